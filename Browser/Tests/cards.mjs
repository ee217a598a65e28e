// SPDX-License-Identifier: Apache-2.0
// Presentations against the module that verifies cards, under node (Browser/Tests/node.mjs) and in a browser (Scripts/explore): every
// outside vector must have the verdict, the check and the claims that it names, and nothing may trap.
import { load, call, Fields } from '../Page/module.mjs';

const words = bytes => new TextDecoder().decode(bytes);

/**
 * Runs all of them.
 *
 * - `module`: the one with `signet_presentation`, which the page does not have
 * - `outside(path)`: an outside vector, or null where there is none
 * - `write(path, text)`: what the module says of changed presentations, in the form of vectors, for signet-vectors
 * - `changes`: how many there are; `seed`: of which
 */
export async function runCards({ module, outside, write = () => {}, changes = 10000, seed = 20260726, say, tell }) {
  const file = await outside('credentials/sd-jwt-vc.json');
  if (!file) { say('presentations', null); return 0; }
  // Certificates are not read in the module.
  const cases = JSON.parse(words(file)).filter(given => !isCertified(given));
  let failures = 0;
  const fail = message => { failures += 1; if (failures <= 20) tell(message); };
  const judge = async given => {
    const { code, output } = call(await load(module), 'signet_presentation', new Fields().bytes(JSON.stringify(given)).done());
    if (code < 0) throw new Error('the module does not read the case');
    return code === 1 ? { valid: true, claims: JSON.parse(words(output)) } : { valid: false, rule: words(output) };
  };

  for (const given of cases) {
    const found = await judge(given);
    if (found.valid !== given.valid) fail(`${given.name}: ${found.valid ? 'accepted' : `refused by ${found.rule}`}`);
    else if (found.valid && sorted(found.claims) !== sorted(given.claims)) fail(`${given.name}: gives other claims`);
    else if (!found.valid && given.rule && found.rule !== given.rule) fail(`${given.name}: refused by ${found.rule}, not ${given.rule}`);
  }
  say('presentations', cases.length);

  const random = bound => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return (seed >>> 8) % bound; };
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~';
  const good = cases.filter(given => given.valid), judged = [], outcomes = {};
  for (let number = 0; number < changes; number++) {
    const given = good[random(good.length)];
    let text = given.presentation;
    const at = random(text.length), kind = random(8);
    if (kind === 0) text = text.slice(0, at) + text.slice(at + 1);
    else if (kind === 1) text = text.slice(0, at) + letters[random(letters.length)] + text.slice(at);
    else if (kind === 2) { const parts = text.split('~'); parts.splice(random(parts.length), 1); text = parts.join('~'); }
    else text = text.slice(0, at) + letters[random(letters.length)] + text.slice(at + 1);
    const changed = { ...given, name: `changed-${number}`, presentation: text };
    try {
      const found = await judge(changed);
      judged.push({ ...changed, valid: found.valid, rule: found.rule ?? null, claims: found.claims ?? null });
      const outcome = found.rule ?? 'accepted';
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    } catch (error) { fail(`changed-${number} of ${given.name}: ${error}`); }
  }
  for (let start = 0; start < judged.length; start += 200) write(`sd-jwt-vc/${start}.json`, JSON.stringify(judged.slice(start, start + 200)));
  say('changed presentations', `${judged.length} ${JSON.stringify(outcomes)}`);
  return failures;
}

/** Whether the issuer's header names certificates. */
function isCertified(given) {
  try {
    return 'x5c' in JSON.parse(atob(given.presentation.split('.')[0].replace(/-/g, '+').replace(/_/g, '/')));
  } catch { return false; }
}

function sorted(value) {
  return JSON.stringify(value, (_, each) => (each && typeof each === 'object' && !Array.isArray(each)
    ? Object.fromEntries(Object.entries(each).sort(([first], [second]) => (first < second ? -1 : 1))) : each));
}
