// SPDX-License-Identifier: Apache-2.0
// Keeps a page that waits for something up to date: asks for it again every two seconds, and shows what has changed. Without this
// script the page is loaded again by hand. What the person is typing or has chosen is never touched.
"use strict";

const interval = 2000, shownFor = 8000;
const opened = Date.now();
let last = null;

function isInUse(main) {
  return [...main.querySelectorAll("input, textarea, select")].some((field) => {
    if (field === document.activeElement) return true;
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    return field.type !== "hidden" && "defaultValue" in field && field.value !== field.defaultValue;
  });
}

// What has the focus, found again in the new page.
function path(element, main) {
  return main.contains(element) ? [...main.querySelectorAll(element.tagName)].indexOf(element) : -1;
}

function show(page, main) {
  const fresh = page.querySelector("main[data-live]");
  if (!fresh) return location.reload();  // what was waited for has come, and its page stays as it is
  if (fresh.outerHTML === last) return;
  last = fresh.outerHTML;
  const focused = document.activeElement, place = path(focused, main);
  const open = [...main.querySelectorAll("details[open][id]")].map((details) => details.id);
  const said = main.querySelector(".said");
  main.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
  if (said && Date.now() - opened < shownFor) main.prepend(said);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (place >= 0) main.querySelectorAll(focused.tagName)[place]?.focus({ preventScroll: true });
  document.title = page.title;
  const nav = page.querySelector("nav.nav"), shown = document.querySelector("nav.nav");
  if (nav && shown && !shown.contains(document.activeElement)) shown.replaceWith(document.importNode(nav, true));
}

function ask() {
  const main = document.querySelector("main[data-live]");
  if (!main) return;
  last ??= main.outerHTML;
  const request = new XMLHttpRequest();
  request.responseType = "document";
  request.timeout = 20000;
  request.addEventListener("loadend", () => {
    const elsewhere = request.responseURL && request.responseURL !== new URL(main.dataset.live, location.href).href;
    if (request.status === 200 && elsewhere && !isInUse(main)) return location.assign(request.responseURL);
    if (request.status === 403) return location.reload();
    if (request.status === 200 && request.response && !elsewhere && !isInUse(main)) show(request.response, main);
    setTimeout(ask, interval);
  });
  request.open("GET", main.dataset.live);
  request.send();
}

setTimeout(ask, interval);
