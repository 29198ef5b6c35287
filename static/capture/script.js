/* What pages do beyond links and forms; without it everything still works.
   A feature is a function of what has come onto the page: first all of it, later each part that htmx brings in. */
"use strict";

const features = [];

/* A form is sent once, however often its button is pressed. */
const SENDING = 3000; // milliseconds, after which it may be pressed again: perhaps the sending was called off
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, SENDING);
});

/* In the field of a starter, Enter adds its questions, which the form could tell only if something stands in it. */
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || event.target.id !== "id_thing") return;
  event.preventDefault();
  document.getElementById("add-starters").click();
});

/* Going back, or a reload, fills the fields in after the page has come: what they come to is worked out anew. */
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted && performance.getEntriesByType("navigation")[0]?.type === "navigate") return;
  document.getElementById("id_brand")?.dispatchEvent(new Event("change", { bubbles: true }));
});

/* What is put right is not called wrong any more. */
document.addEventListener("input", ({ target }) => {
  const field = target.closest(".wrong");
  if (!field) return;
  field.classList.remove("wrong");
  field.querySelector(".error").remove();
  for (const marked of field.querySelectorAll("[aria-invalid]")) marked.removeAttribute("aria-invalid");
  if (!document.querySelector(".wrong")) document.getElementById("amiss")?.remove();
});

/* Where htmx asks, the page says that there was no answer, and of itself that there is one again. */
const TROUBLES = { 401: "login", 403: "old", 404: "gone" };
document.addEventListener("htmx:afterRequest", ({ detail: { xhr } }) => {
  const trouble = xhr.status >= 200 && xhr.status < 300 ? "" : (TROUBLES[xhr.status] ?? "lost");
  for (const words of document.querySelectorAll("[data-trouble]")) words.hidden = words.dataset.trouble !== trouble;
});

/* The page of a check that goes on asks every two seconds. Fewer questions are let through when nothing changes, when
   nobody looks, and none while updates are paused. */
const pace = { quick: 2000, slow: 10_000, hidden: 60_000, gap: 2000, next: 0, paused: false }; // milliseconds
const polls = (event) => event.detail.requestConfig.elt.id === "progress";
document.addEventListener("htmx:beforeRequest", (event) => {
  if (polls(event) && (pace.paused || performance.now() < pace.next)) event.preventDefault();
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (!polls(event)) return;
  pace.gap = event.detail.xhr.status === 200 ? pace.quick : Math.min(pace.gap * 1.5, pace.slow);
  pace.next = performance.now() + (document.hidden ? pace.hidden : pace.gap) - 100;
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  pace.next = 0;
  document.getElementById("progress")?.dispatchEvent(new Event("look")); // of a check that is over, which does not ask by itself
});
features.push((root) => {
  const button = root.querySelector("#pause");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    pace.paused = !pace.paused;
    pace.next = 0;
    button.setAttribute("aria-pressed", pace.paused);
    [button.textContent, button.dataset.other] = [button.dataset.other, button.textContent];
    document.getElementById("still").hidden = !pace.paused;
  });
});

/* Its status region is read aloud, so it changes once in ten seconds at most. */
const speech = { quiet: 10_000, last: performance.now(), timer: 0 };
const speak = (words) => {
  document.getElementById("spoken").textContent = words;
  speech.last = performance.now();
};
features.push((root) => {
  if (root.id !== "progress") return;
  clearTimeout(speech.timer);
  speech.timer = setTimeout(speak, speech.last + speech.quiet - performance.now(), root.dataset.spoken);
});

/* Seconds are counted on here. */
setInterval(() => {
  if (pace.paused || document.hidden) return;
  for (const words of document.querySelectorAll("[data-seconds]")) {
    words.began ??= performance.now() - words.dataset.seconds * 1000;
    const seconds = Math.floor((performance.now() - words.began) / 1000);
    words.textContent = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
  }
}, 1000);

/* An answer is copied with the addresses that it cites. Where the browser does not let us, it is selected. */
features.push((root) => {
  for (const button of root.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
});
async function copy(button) {
  const [text, sources] = button.dataset.copy.split(" ").map((id) => document.getElementById(id));
  const cited = [...(sources?.children ?? [])].map((source) => `[${source.value}] ${source.querySelector("a")?.href}`);
  const told = button.nextElementSibling;
  try {
    await navigator.clipboard.writeText([text.innerText, ...cited].join("\n"));
    told.textContent = button.dataset.copied;
  } catch {
    getSelection().selectAllChildren(text);
    told.textContent = button.dataset.selected;
  }
}

/* A link whose page htmx could not put into this one, such as after a session has ended, is followed as a link. */
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.elt.matches("a[href]")) location.assign(event.detail.elt.href);
});

/* Last of all, so that every feature is there. */
const enhance = (root) => features.forEach((feature) => feature(root));
enhance(document);
document.addEventListener("htmx:load", (event) => event.detail.elt !== document.body && enhance(event.detail.elt));
