// SPDX-License-Identifier: Apache-2.0
// The page of a card that was shown: takes the card out of the address, has the module judge it, and draws what it says.
import { call, Fields, load, Output } from './module.mjs';

const result = document.getElementById('result');

/** Takes the card out of the address, so that nobody who looks at the screen sees it there. */
function taken() {
  let card = location.hash.slice(1);
  if (card) history.replaceState(null, '', location.pathname);
  // On the way a link may have been spelled otherwise, or got a mark at its end.
  try { card = decodeURIComponent(card); } catch { /* what cannot be decoded is judged as it is */ }
  return card.trim();
}

let card = taken();

let compiled;
const module = () => compiled ??= WebAssembly.compile(Uint8Array.from(atob('MODULE'), letter => letter.charCodeAt(0)));

async function judge(now) {
  const { code, output } = call(await load(await module()), 'signet_card', new Fields().bytes(card).u64(now).done());
  const read = new Output(output);
  if (code === 0) return { check: read.words(), what: read.words(), remedy: read.words() };
  if (code !== 1) throw new Error('The call is malformed; nothing was verified.');
  return { time: read.u64(), until: read.u64(), key: read.words(),
    lines: Array.from({ length: read.u8() }, () => [read.words(), read.words()]),
    proved: read.words(), notProved: Array.from({ length: 3 }, () => read.words()) };
}

/** What could hide or turn around a part of a text is shown as a mark in its place. */
const plain = text => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]|(?!\u200d)\p{Cf}/gu, '\ufffd');

// Words reach the page as text only.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const notice = (kind, title, ...children) => make('section',
  { class: `notice notice-${kind}`, ...(kind === 'alarm' ? { role: 'alert' } : {}) }, make('div', {}, make('h2', {}, title), ...children));

const facts = rows => make('dl', { class: 'facts' },
  ...rows.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', { dir: 'auto' }, plain(value)))));

function draw(outcome, check, ...children) {
  result.dataset.outcome = outcome;
  result.dataset.check = check;
  result.replaceChildren(...children);
}

const seconds = () => Math.floor(Date.now() / 1000);
let timer;

async function show() {
  clearTimeout(timer);
  if (!card) {
    return draw('nothing', '', notice('known', 'There is no card in this address',
      make('p', {}, 'Scan the code on the other person\u2019s screen, or open the link that they show you.')));
  }
  // A program of the site that stands between the browser and its pages sees the whole address.
  if (navigator.serviceWorker?.controller) {
    return draw('watched', '', notice('alarm', 'A program of this server runs beside this page',
      make('p', {}, 'It sees the card, and an honest server has none. Nothing here is proved.')));
  }
  result.replaceChildren();
  const found = await judge(seconds());
  if (found.check) return draw('refused', found.check, notice('alarm', found.what, make('p', {}, found.remedy)));
  const age = make('p', { id: 'age', 'aria-live': 'off' });
  draw('shown', '',
    make('div', { class: 'card' },
      found.lines.length ? facts(found.lines) : make('p', {}, 'No line of the card is shown.')),
    notice('good', 'Proved', age, make('p', {}, sentenceCase(found.proved))),
    notice('changed', 'Not proved', ...found.notProved.map(words => make('p', {}, sentenceCase(words)))),
    make('details', {}, make('summary', {}, 'The key that signed the card'), make('p', { class: 'mono' }, found.key)));
  tick(found, age);
}

const sentenceCase = words => words[0].toUpperCase() + words.slice(1);

const spelled = count => (count === 1 ? '1 second' : `${count} seconds`);

/** Says how long ago the card was shown, until it no longer counts. */
function tick(found, age) {
  const now = seconds();
  if (now > found.until) return show().catch(trouble);
  age.textContent = now < found.time
    ? `By your clock, it is shown in ${spelled(found.time - now)}: one of your two clocks is wrong.`
    : `Shown ${spelled(now - found.time)} ago. It counts for two minutes.`;
  timer = setTimeout(() => tick(found, age), 1000);
}

const trouble = () => draw('trouble', '', notice('alarm', 'This browser could not check the card',
  make('p', {}, 'Nothing is proved. Check the link with \u2018signet card verify\u2019, or use another browser.')));

document.getElementById('host').textContent = location.host;
addEventListener('hashchange', () => {
  const next = taken();
  if (!next) return;
  card = next;
  show().catch(trouble);
});
show().catch(trouble);
