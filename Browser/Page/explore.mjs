// SPDX-License-Identifier: Apache-2.0
// The explorer's page: fetches, draws, remembers. What is true comes from the module.
import { call, hex, load } from './module.mjs';
import {
  allChecks, epochsIn, isGrownFrom, isLogged, LogTiles, lookupInput, lookupRequest, lookupVerdict, readDirectory, verifyCheckpoint,
} from './signet.mjs';

const $ = id => document.getElementById(id);
const decoder = new TextDecoder();

// MARK: Drawing. Words reach the page as text only.

function make(name, attributes = {}, ...children) {
  const isPicture = ['svg', 'line', 'polyline', 'polygon', 'circle', 'text'].includes(name);
  const element = isPicture ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const icon = name => make('span', { class: `i i-${name}`, 'aria-hidden': 'true' });

function notice(kind, title, ...sentences) {
  const icons = { good: 'check', known: 'info', changed: 'changed', alarm: 'alarm' };
  return make('section', { class: `notice notice-${kind}`, 'data-notice': kind, ...(kind === 'alarm' ? { role: 'alert' } : {}) },
    icon(icons[kind]), make('div', {}, make('h2', {}, title), ...sentences.map(sentence => make('p', {}, sentence))));
}

const facts = rows => make('dl', { class: 'facts' },
  ...rows.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, String(value)))));

const date = milliseconds => new Date(Number(milliseconds)).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const number = value => Number(value).toLocaleString();

function ago(seconds) {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 129600 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86400)} days ago`;
}

// MARK: Memory. It holds what was verified, for the next visit.

const storageKey = 'signet-explorer/v1';

function remembered() {
  try { return JSON.parse(localStorage.getItem(storageKey)) ?? {}; } catch { return {}; }
}

function remember(change) {
  const memory = remembered();
  change(memory);
  localStorage.setItem(storageKey, JSON.stringify(memory));
}

/** A view never goes back, also when two tabs are open. */
function rememberView(origin, view) {
  remember(memory => {
    memory.views ??= {};
    const known = memory.views[origin];
    if (!known || BigInt(known.size) <= BigInt(view.size)) memory.views[origin] = { ...view, at: Date.now() };
  });
}

const labelName = (origin, handle) => `${origin} ${handle}`;

// MARK: Fetching. Nothing that comes back is believed here.

const longest = 4 << 20;

class Trouble extends Error {}

async function read(response) {
  const parts = [];
  let count = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    count += value.length;
    if (count > longest) {
      await reader.cancel();
      throw new Trouble('The server sends more than any valid answer has. Nothing was verified.');
    }
    parts.push(value);
  }
  const all = new Uint8Array(count);
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}

async function fetched(path, options = {}) {
  let response;
  try { response = await fetch(path, { cache: 'no-store', credentials: 'omit', redirect: 'error', ...options }); } catch {
    throw new Trouble('Nothing answers. Check the connection, and try again.');
  }
  const bytes = await read(response);
  if (!response.ok) {
    const word = /"error":"([a-z_]{1,40})"/.exec(decoder.decode(bytes.subarray(0, 200)))?.[1];
    throw new Trouble(`The server refuses to answer${word ? ` (${word})` : ''}. Try again later.`);
  }
  return bytes;
}

const logFile = path => fetched(`/log/${path}`, { cache: 'default' });

// MARK: The module

const integrity = document.querySelector('meta[name=verifier]').content;
let compiled;

/** A fresh instance; the browser compares the module's hash with the one in this page. */
async function instance() {
  compiled ??= (async () => {
    const response = await fetch(new URL('verifier.wasm', import.meta.url), { integrity });
    const bytes = await response.arrayBuffer();
    $('verifier-hash').textContent = hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
    return WebAssembly.compile(bytes);
  })();
  return load(await compiled);
}

// MARK: The directory file

/** What this browser trusts: a file that the person gave, or else the server's own. */
async function trusted() {
  const own = remembered().directory;
  const file = own ?? decoder.decode(await fetched('/explore/directory.signet'));
  const trust = readDirectory(await instance(), file);
  if (!trust) throw new Trouble('The directory file of this server is not one.');
  return { ...trust, isOwn: Boolean(own) };
}

function drawTrust(trust) {
  const witnesses = trust.witnesses.filter(witness => witness.isVerified).map(witness => witness.name);
  $('server').textContent = trust.origin;
  $('trust-result').replaceChildren(
    trust.isOwn
      ? notice('good', 'Your own directory file', 'It was given to this browser, and what the server sends is held against it.')
      : notice('changed', 'The directory file comes from this server',
        'So the checks below show that the server agrees with itself, and with what your browser saw earlier. They do not show that everyone sees this log.',
        'Load the file that you were given to check against that.'),
    make('div', { class: 'card' }, facts([
      ['Directory', trust.url], ['Log', trust.origin], ['Witnesses', witnesses.join(', ') || 'none'],
      ['An answer may be', `${number(trust.maximumAge)} s old`]])));
}

async function takeFile(file) {
  const isOne = readDirectory(await instance(), file) !== null;
  if (isOne) remember(memory => { memory.directory = file; });
  return isOne;
}

/**
 * `#directory=` and the file in base64url: a link can carry it, and it is not sent to the server. Anyone can make a link, so it never
 * replaces a file that the person gave before unless they say so.
 */
async function takeFragment() {
  const given = /^#directory=([A-Za-z0-9_-]+)$/.exec(location.hash)?.[1];
  if (!given) return;
  history.replaceState(null, '', location.pathname);
  const bytes = Uint8Array.from(atob(given.replace(/-/g, '+').replace(/_/g, '/')), letter => letter.charCodeAt(0));
  const file = decoder.decode(bytes);
  const own = remembered().directory;
  if (own && own !== file && readDirectory(await instance(), file)) {
    const use = make('button', { class: 'button', type: 'button', id: 'use-link' }, 'Use the file of the link instead');
    use.addEventListener('click', async () => {
      $('state').replaceChildren();
      await takeFile(file);
      await refresh();
    });
    const question = notice('changed', 'The link holds another directory file than yours',
      'Whoever made the link chose what it trusts. Your own file is still used. Take the other one only if someone you trust gave you the link.');
    question.lastChild.append(use);
    $('state').replaceChildren(question);
  } else if (!await takeFile(file)) {
    $('state').replaceChildren(notice('changed', 'The link holds no directory file', 'What this browser trusted before is unchanged.'));
  }
}

// MARK: A lookup

function drawChecks(verdict, names) {
  const refusing = verdict.check ?? 0;
  const rows = names.map(({ name, statement }, place) => {
    const isPassed = !refusing || (verdict.passed >> place & 1) === 1;
    const kind = isPassed ? 'pass' : place + 1 === refusing ? 'fail' : 'idle';
    const [mark, word] = { pass: ['check', 'Passed: '], fail: ['cross', 'Failed: '], idle: ['dot', 'Not reached: '] }[kind];
    return make('li', { class: kind, 'data-check': name }, icon(mark),
      make('span', {}, make('span', { class: 'quiet' }, word), statement));
  });
  return make('ol', { class: 'checks' }, ...rows);
}

function drawVerdict(verdict, handle, before, names, milliseconds) {
  const count = names.length;
  const known = make('p', { class: 'help' }, `In your browser, ${milliseconds.toFixed(1)} ms.`);
  const list = title => make('section', { class: 'card' }, make('h3', {}, title), drawChecks(verdict, names), known);
  if (verdict.outcome === 'refused') {
    const failed = names[verdict.check - 1];
    const passed = names.filter((_, place) => verdict.passed >> place & 1).length;
    return [notice('alarm', 'Do not use these keys',
      `What happened: the answer about ${handle} fails the check “${failed.statement}”.`,
      'What it means: the directory, or someone between it and you, sent something that cannot be true. Your browser kept what it knew before.',
      'What to do: ask again later, and if it happens again, tell the person over another channel.'),
    list(`${passed} of ${count} checks hold, one failed`)];
  }
  const found = {
    registered: ['Registered', `version ${number(verdict.version)}`], closed: ['Closed', 'the account was closed for good'],
    absent: ['Not registered', 'no one has this handle'],
  }[verdict.outcome];
  const isNews = before && (before.version !== verdict.version || before.state !== (verdict.state ?? ''));
  const seen = !before ? 'Your browser sees this handle for the first time' : isNews
    ? `Changed since your browser looked, version ${before.version} then` : 'Unchanged since your browser looked';
  return [
    isNews ? notice('changed', 'Something changed', `The keys of ${handle} are others than when your browser looked last. If the person did not say so, ask them.`) : null,
    make('div', { class: 'cols' }, list(`${count} checks, all held`), make('section', { class: 'card' },
      make('h3', {}, 'Found'),
      facts([[found[0], found[1]], ['Seen', seen], ['Log', `${number(verdict.size)} entries`],
        ['Epoch', `${number(verdict.epoch.number)}, ${date(verdict.epoch.time)}`], ['Signed', ago(verdict.age)]]),
      make('p', { class: 'help' }, 'This does not prove that it is the person: only comparing with them does.'))),
  ].filter(Boolean);
}

async function lookUp(typed) {
  const trust = await trusted();
  const first = await instance();
  const names = allChecks(first);
  const asked = lookupRequest(first, typed);
  if (!asked) return null;
  const memory = remembered();
  const { handle } = asked;
  const known = memory.views?.[trust.origin];
  const label = memory.labels?.[labelName(trust.origin, handle)];
  const answer = await fetched('/v1/lookup', {
    method: 'POST', headers: { 'Content-Type': 'application/vnd.signet' }, body: lookupRequest(first, typed, known, label).request });
  const fresh = await instance();
  const begun = performance.now();
  const verdict = lookupVerdict(call(fresh, 'signet_lookup', lookupInput({
    ...trust, handle, answer, now: Math.floor(Date.now() / 1000), label,
    known: known ? { ...known, origin: trust.origin } : undefined })));
  const took = performance.now() - begun;
  if (verdict.outcome !== 'refused') {
    rememberView(verdict.origin, { size: verdict.size, root: verdict.root, epoch: verdict.epoch });
    remember(memory => {
      memory.labels ??= {};
      if (verdict.outcome === 'absent') return;
      memory.labels[labelName(trust.origin, handle)] = {
        count: verdict.count, root: verdict.historyRoot, version: verdict.version, state: verdict.state ?? '' };
    });
  }
  const check = verdict.check ? names[verdict.check - 1].name : '';
  return { outcome: verdict.outcome, check, drawn: drawVerdict(verdict, handle, label, names, took) };
}

// MARK: The log

/** The epochs that entries from `first` bundle on, backwards, end; each one proven to be in the log. */
async function provenEpochs(tiles, index, wanted) {
  const { width, bytes } = await tiles.bundle(index);
  const records = epochsIn(tiles.exports, width, bytes).slice(-wanted);
  for (const record of records) {
    record.index = index * 256 + record.place;
    const proof = await tiles.inclusion(record.index);
    if (!isLogged(await instance(), tiles.head, record.index, record.entry, proof)) {
      throw new Refused('inclusion', 'An epoch that the server shows is not in the log that it signed.');
    }
  }
  return records;
}

/** A check that failed, by its name, with what happened. */
class Refused extends Error {
  constructor(check, message) { super(message); this.check = check; }
}

async function checkedLog(trust) {
  const head = verifyCheckpoint(await instance(), trust, await fetched('/log/checkpoint'), Math.floor(Date.now() / 1000));
  if (head.outcome === 'refused') {
    const { statement } = allChecks(await instance()).find(({ name }) => name === head.check);
    throw new Refused(head.check, `The end of the log fails the check “${statement}”.`);
  }
  const known = remembered().views?.[head.origin];
  const tiles = new LogTiles(await instance(), head, logFile);
  if (known) {
    if (known.size > head.size) throw new Refused('consistency', `The log has ${number(head.size)} entries; your browser saw ${number(known.size)}. Entries were taken away.`);
    const isGrown = known.size === head.size ? known.root === head.root
      : isGrownFrom(await instance(), known, head, await tiles.consistency(known.size));
    if (!isGrown) throw new Refused('consistency', 'The log is another than the one that your browser saw.');
  }
  const last = Math.floor((head.size - 1) / 256);
  let recent = [];
  for (let index = last; index >= 0 && index > last - 3 && recent.length < 8; index--) {
    recent = [...await provenEpochs(tiles, index, 8 - recent.length), ...recent];
  }
  const end = recent.at(-1);
  if (end?.index !== head.size - 1) throw new Refused('epoch', 'The log does not end in the record of an epoch.');
  rememberView(head.origin, { size: head.size, root: head.root, epoch: { number: end.number, time: end.time } });
  return { head, known, recent: recent.reverse(), points: await growth(tiles, last, end) };
}

/** At most 16 places of the log with their times. */
async function growth(tiles, last, end) {
  const points = [];
  const steps = Math.min(16, last);
  for (let step = 0; step < steps; step++) {
    const [first] = await provenEpochs(tiles, Math.floor(step * last / steps), 1);
    if (first) points.push([Number(first.time), first.index + 1]);
  }
  return [...points, [Number(end.time), end.index + 1]];
}

function chart(points) {
  const [from, to, most] = [points[0][0], points.at(-1)[0], points.at(-1)[1]];
  const at = ([time, count]) => `${(84 + 462 * (time - from) / Math.max(1, to - from)).toFixed(1)},${(212 - 190 * count / most).toFixed(1)}`;
  const line = points.map(at).join(' ');
  return make('figure', { class: 'card' }, make('figcaption', {}, make('h3', {}, 'Growth')),
    make('svg', { class: 'chart', viewBox: '0 0 560 250', role: 'img', 'aria-label': `Entries in the log, from ${date(from)} to ${date(to)}: ${number(most)} in the end` },
      make('line', { class: 'grid', x1: 84, x2: 546, y1: 212, y2: 212 }), make('line', { class: 'grid', x1: 84, x2: 546, y1: 22, y2: 22 }),
      make('text', { x: 76, y: 216, 'text-anchor': 'end' }, '0'), make('text', { x: 76, y: 26, 'text-anchor': 'end' }, number(most)),
      make('text', { x: 84, y: 240 }, new Date(from).toLocaleDateString()),
      make('text', { x: 546, y: 240, 'text-anchor': 'end' }, new Date(to).toLocaleDateString()),
      make('polygon', { class: 'area', points: `84,212 ${line} 546,212` }), make('polyline', { class: 'curve', points: line })));
}

function drawLog({ head, known, recent, points }, trust) {
  const now = Date.now();
  const seen = known
    ? notice('good', 'Only grown since your last visit', `Your browser was here on ${date(known.at)}, at ${number(known.size)} entries, and has just checked that all of them are still there, unchanged.`)
    : notice('known', 'Your first visit', 'Your browser remembers the end of the log, and checks at the next visit that it has only grown.');
  const signed = new Map(head.cosignatures.map(({ name, time }) => [name, time]));
  const outside = head.cosignatures.filter(witness => witness.isOutside);
  const stats = [['entries', number(head.size)], ['epochs', number(recent[0].number)], ['last one', ago((now - Number(recent[0].time)) / 1000)],
    ['outside witnesses', number(outside.length)]];
  const table = (caption, heads, rows) => make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    make('table', {}, make('caption', {}, caption), make('thead', {}, make('tr', {}, ...heads.map(([name, kind]) => make('th', { scope: 'col', class: kind ?? '' }, name)))),
      make('tbody', {}, ...rows)));
  return make('div', { class: 'section' }, seen,
    outside.length === 0 ? notice('changed', 'No one outside vouches for this log', 'Every witness that signed it is the directory’s own, so the directory could show other people another log.') : null,
    make('dl', { class: 'stats card' }, ...stats.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value)))),
    points.length > 2 ? chart(points) : null,
    table('Latest epochs', [['Epoch'], ['Ended'], ['New entries', 'num'], ['Handles', 'num']], recent.map(epoch =>
      make('tr', {}, make('th', { scope: 'row' }, number(epoch.number)), make('td', {}, date(epoch.time)),
        make('td', { class: 'num' }, number(epoch.index - Number(epoch.start))), make('td', { class: 'num' }, number(epoch.labels))))),
    table('Witnesses', [['Name'], ['Signed this end of the log']], trust.witnesses.map(({ name, isVerified }) =>
      make('tr', {}, make('th', { scope: 'row' }, name),
        make('td', {}, signed.has(name) ? date(signed.get(name) * 1000) : isVerified ? 'not yet' : 'a kind of key that this page does not verify')))));
}

// MARK: The page

function drawFailure(place, error) {
  place.dataset.check = error.check ?? '';
  if (error instanceof Refused) {
    place.replaceChildren(notice('alarm', 'Do not use this directory', `What happened: ${error.message}`,
      'What it means: the server shows you something that cannot be true, or a log of your own. Your browser kept what it knew before.',
      'What to do: ask again later, and tell others what you saw.'));
  } else {
    const message = error instanceof Trouble ? error.message : 'The verifier did not run to its end, so nothing was verified.';
    place.replaceChildren(notice('changed', 'Not verified', message));
  }
}

async function refresh() {
  const place = $('log-result');
  place.dataset.outcome = '';
  try {
    const trust = await trusted();
    drawTrust(trust);
    place.replaceChildren(drawLog(await checkedLog(trust), trust));
    Object.assign(place.dataset, { check: '', outcome: 'verified' });
  } catch (error) {
    drawFailure(place, error);
    place.dataset.outcome = error instanceof Refused ? 'refused' : 'trouble';
  }
}

let asked = 0;

$('form').addEventListener('submit', async event => {
  event.preventDefault();
  asked += 1;
  const turn = asked;
  const [place, wrong, typed] = [$('result'), $('handle-wrong'), $('handle').value.trim()];
  wrong.hidden = true;
  $('handle').removeAttribute('aria-invalid');
  place.dataset.outcome = '';
  place.replaceChildren(make('p', { class: 'muted' }, 'Asking …'));
  try {
    const found = await lookUp(typed);
    // Another handle was asked for meanwhile: its answer is the one to show.
    if (turn !== asked) return;
    if (!found) {
      wrong.textContent = 'A handle looks like ben@example.org, in letters, digits and . _ + -.';
      wrong.hidden = false;
      $('handle').setAttribute('aria-invalid', 'true');
      place.replaceChildren();
      place.dataset.outcome = 'no-handle';
      $('handle').focus();
      return;
    }
    place.replaceChildren(...found.drawn);
    Object.assign(place.dataset, { check: found.check, outcome: found.outcome });
  } catch (error) {
    if (turn !== asked) return;
    drawFailure(place, error);
    place.dataset.outcome = 'trouble';
  }
});

$('file').addEventListener('change', async () => {
  const [file] = $('file').files;
  const isOne = file.size <= 65536 && await takeFile(await file.text());
  $('file-wrong').textContent = isOne ? '' : 'This is not a directory file. What this browser trusted before is unchanged.';
  $('file-wrong').hidden = isOne;
  if (isOne) await refresh();
});

$('forget').addEventListener('click', async () => {
  localStorage.removeItem(storageKey);
  $('result').replaceChildren();
  await refresh();
});

try { await takeFragment(); } catch { /* what the link holds is not base64: the page goes on with what it has */ }
await refresh();
