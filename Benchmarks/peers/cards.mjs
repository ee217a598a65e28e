// SPDX-License-Identifier: Apache-2.0
// Milliseconds of processor time of one verification of a card: node cards.mjs webcrypto|module FILE TIMES
import { readFileSync } from 'node:fs';
import { call, Fields, load } from '../../Browser/Page/module.mjs';

const [kind, file, times] = process.argv.slice(2);
const given = JSON.parse(readFileSync(file))[0];
const subtle = crypto.subtle;
const bytes = text => Buffer.from(text, 'base64url');
const json = text => JSON.parse(bytes(text));

/** What a page does with the primitives of the browser: both signatures, the digests, and what binds the card to the request. */
async function byWebCrypto() {
  const parts = given.presentation.split('~');
  const [issuer, disclosures, holder] = [parts[0], parts.slice(1, -1), parts.at(-1)];
  const verified = async (token, key) => {
    const [head, body, signature] = token.split('.');
    const imported = await subtle.importKey('jwk', key, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']);
    const is = await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, imported, bytes(signature), Buffer.from(`${head}.${body}`));
    if (!is) throw new Error('signature');
    return json(body);
  };
  const digest = async text => Buffer.from(await subtle.digest('SHA-256', Buffer.from(text))).toString('base64url');
  const payload = await verified(issuer, Object.values(given.issuer_keys)[0]);
  for (const each of disclosures) if (!payload._sd.includes(await digest(each))) throw new Error('digest');
  const bound = await verified(holder, payload.cnf.jwk);
  const text = given.presentation.slice(0, given.presentation.length - holder.length);
  if (bound.aud !== given.aud || bound.nonce !== given.nonce || bound.sd_hash !== await digest(text)) throw new Error('binding');
}

const module = kind === 'module' ? await WebAssembly.compile(readFileSync(new URL('../../.build/wasm/card-tests.wasm', import.meta.url))) : null;
const input = new Fields().bytes(JSON.stringify(given)).done();

async function byModule() {
  if (call(await load(module), 'signet_presentation', input).code !== 1) throw new Error('refused');
}

const verify = kind === 'module' ? byModule : byWebCrypto;
for (let left = Number(times); left > 0; left--) await verify();
const start = process.cpuUsage();
for (let left = Number(times); left > 0; left--) await verify();
const { user, system } = process.cpuUsage(start);
console.log((user + system) / 1000 / Number(times));
