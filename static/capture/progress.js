// The page of a check that goes on. htmx asks every two seconds; this lets fewer questions through when nothing
// changes, when nobody looks and while updates are paused, says when there is no answer, and counts seconds.
(() => {
  const QUICK = 2000, SLOW = 10_000, HIDDEN = 60_000, QUIET = 10_000; // milliseconds
  let paused = false, gap = QUICK, next = 0, spoken = performance.now(), speaking;

  const progress = () => document.getElementById("progress");
  const ours = (event) => event.detail.requestConfig.elt.id === "progress";

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (ours(event) && (paused || performance.now() < next)) event.preventDefault();
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    if (!ours(event)) return;
    const status = event.detail.xhr.status;
    gap = status === 200 ? QUICK : Math.min(gap * 1.5, SLOW);
    next = performance.now() + (document.hidden ? HIDDEN : gap) - 100;
    tell({ 200: "", 204: "", 401: "login", 404: "gone" }[status] ?? "lost");
    if (status === 200) speak();
  });

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) next = 0;
  });

  function tell(trouble) {
    for (const text of document.querySelectorAll("[data-trouble]")) text.hidden = text.dataset.trouble !== trouble;
  }

  // A screen reader says whatever changes here, so it changes seldom.
  function speak() {
    clearTimeout(speaking);
    speaking = setTimeout(() => {
      document.getElementById("spoken").textContent = progress().dataset.spoken;
      spoken = performance.now();
    }, Math.max(0, spoken + QUIET - performance.now()));
  }

  function tick() {
    if (paused || document.hidden) return;
    for (const text of document.querySelectorAll(".since")) {
      text.began ??= performance.now() - text.dataset.seconds * 1000;
      const seconds = Math.floor((performance.now() - text.began) / 1000);
      const words = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
      if (text.textContent !== words) text.textContent = words;
    }
  }

  const button = document.getElementById("pause");
  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    next = 0;
    button.setAttribute("aria-pressed", paused);
  });
  setInterval(tick, 1000);
  tick();
})();
