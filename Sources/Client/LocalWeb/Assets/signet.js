// SPDX-License-Identifier: Apache-2.0
// Keeps a page that waits for something up to date: asks for it again every two seconds, and shows what has changed. Without this
// script the page is loaded again by hand. What the person is typing or has chosen is never touched, and the focus stays on what does
// the same as before, or on nothing.
"use strict";

const interval = 2000, shownFor = 8000;
const opened = Date.now();
let last = null, failures = 0;

function isInUse(main) {
  return [...main.querySelectorAll("input, textarea, select")].some((field) => {
    if (field === document.activeElement) return true;
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    return field.type !== "hidden" && "defaultValue" in field && field.value !== field.defaultValue;
  });
}

// What an element does, by which it is found again in the new page: its form and what that sends, or its link.
function deed(element) {
  const form = element.closest("form");
  const sent = form ? [...form.querySelectorAll("input[type=hidden]")].filter((field) => field.name !== "form-token") : [];
  return [element.tagName, form?.getAttribute("action"), ...sent.map((field) => field.name + "=" + field.value), element.id,
    element.name, element.value, element.getAttribute("href"), element.closest("details")?.id].join("\n");
}

function refocus(main, wanted) {
  const found = [...main.querySelectorAll("a, button, input, select, summary, textarea")].filter((each) => deed(each) === wanted);
  if (found.length === 1) found[0].focus({ preventScroll: true });
}

function put(fresh, old) {
  if (fresh && old && fresh.outerHTML !== old.outerHTML && !old.contains(document.activeElement)) old.replaceWith(document.importNode(fresh, true));
}

function show(page, main) {
  document.title = page.title;
  put(page.querySelector("nav.nav"), document.querySelector("nav.nav"));
  if (isInUse(main)) return put(page.getElementById("rings"), document.getElementById("rings"));
  const fresh = page.querySelector("main[data-live]");
  if (!fresh) return location.reload();  // what was waited for has come, and its page stays as it is
  if (fresh.outerHTML === last) return;
  last = fresh.outerHTML;
  const focused = main.contains(document.activeElement) ? deed(document.activeElement) : null;
  const open = [...main.querySelectorAll("details[open][id]")].map((details) => details.id);
  const said = main.querySelector(".said");
  main.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
  if (said && Date.now() - opened < shownFor) main.prepend(said);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) refocus(main, focused);
}

// That what the page says is old.
function note(isAnswered, main) {
  failures = isAnswered ? 0 : failures + 1;
  const line = document.getElementById("silent");
  if (isAnswered) return line?.remove();
  if (failures < 3 || line) return;
  const said = document.createElement("p");
  said.id = "silent";
  said.className = "offline";
  said.setAttribute("role", "alert");
  said.textContent = "Signet does not answer any more: what this page says is old. Start it again, and open its new link.";
  main.prepend(said);
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
    note(request.status !== 0, main);
    if (request.status === 200 && elsewhere && !isInUse(main)) return location.assign(request.responseURL);
    if (request.status === 403) return location.reload();
    if (request.status === 200 && request.response && !elsewhere) show(request.response, main);
    setTimeout(ask, interval);
  });
  request.open("GET", main.dataset.live);
  request.setRequestHeader("x-signet-watch", "1");
  request.send();
}

setTimeout(ask, interval);
