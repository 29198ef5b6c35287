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

/* Last of all, so that every feature is there. */
const enhance = (root) => features.forEach((feature) => feature(root));
enhance(document);
document.addEventListener("htmx:load", (event) => event.detail.elt !== document.body && enhance(event.detail.elt));
