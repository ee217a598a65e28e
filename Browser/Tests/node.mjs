// SPDX-License-Identifier: Apache-2.0
// The vectors under node: node Browser/Tests/node.mjs FOLDER WITH THE MODULES [OUTSIDE VECTORS [FOLDER FOR CHANGED ONES]]
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { runCards } from './cards.mjs';
import { runVectors } from './vectors.mjs';

const [folder, outside, written] = process.argv.slice(2);
const ours = path => new URL('../../' + path, import.meta.url);
const compiled = name => WebAssembly.compile(readFileSync(`${folder}/${name}.wasm`));
const means = {
  read: path => new Uint8Array(readFileSync(ours(path))),
  list: path => readdirSync(ours(path)),
  outside: path => (outside && existsSync(`${outside}/${path}`) ? new Uint8Array(readFileSync(`${outside}/${path}`)) : null),
  write(path, content) {
    if (!written) return;
    mkdirSync(dirname(`${written}/${path}`), { recursive: true });
    writeFileSync(`${written}/${path}`, content);
  },
  changes: Number(process.env.SIGNET_MUTANTS ?? 10000), seed: Number(process.env.SIGNET_SEED ?? 20260726),
  say: (what, count) => console.log(`${what}: ${count ?? 'not here, left out'}`),
  tell: message => console.error(message),
};
const failures = await runVectors({ ...means, module: await compiled('verifier') })
  + await runCards({ ...means, module: await compiled('card-tests') });
if (failures > 0) { console.error(`${failures} failures.`); process.exit(1); }
