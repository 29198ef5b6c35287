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
