// SPDX-License-Identifier: Apache-2.0
// The proofs that the page puts together from tiles: node Browser/Tests/tiles.mjs MODULE
//
// The tiles are of trees that are made here, hash by hash. The module must accept each proof, and no proof of another entry,
// another place or another tree.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hex, load } from '../Page/module.mjs';
import { LogTiles, isGrownFrom, isLogged } from '../Page/signet.mjs';

const module = await WebAssembly.compile(readFileSync(process.argv[2]));
const exports = await load(module);
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const entry = index => new TextEncoder().encode(`entry ${index}`);
const leaf = bytes => sha256(Uint8Array.of(0), bytes);
const node = (left, right) => sha256(Uint8Array.of(1), left, right);
let failures = 0;
const expect = (is, what) => { if (!is) { failures += 1; console.error(what); } };

/** Levels of a tree: the leaves, then the roots of full tiles, and so on. */
const largest = 70000;
const levels = [Array.from({ length: largest }, (_, index) => leaf(entry(index)))];
while (levels.at(-1).length >= 256) {
  const [below, above] = [levels.at(-1), []];
  for (let first = 0; first + 256 <= below.length; first += 256) above.push(root(below.slice(first, first + 256)));
  levels.push(above);
}

/** MTH, by the definition in RFC 6962, section 2.1. */
function root(hashes) {
  if (hashes.length === 1) return hashes[0];
  let half = 1;
  while (half * 2 < hashes.length) half *= 2;
  return node(root(hashes.slice(0, half)), root(hashes.slice(half)));
}

/** C2SP tlog-tiles, "Merkle Tree". */
function file(size, path) {
  const [, level, rest, width] = /^tile\/(\d+)\/((?:x\d{3}\/)*\d{3})(?:\.p\/(\d+))?$/.exec(path);
  const index = Number(rest.replace(/[x/]/g, ''));
  const count = Math.min(256, Math.floor(size / 256 ** Number(level)) - 256 * index);
  expect(count === Number(width ?? 256), `${path} in a log of ${size}`);
  return new Uint8Array(Buffer.concat(levels[Number(level)].slice(256 * index, 256 * index + count)));
}

const headOf = size => ({ size, root: hex(root(levels[0].slice(0, size))) });
const sizes = [1, 2, 3, 7, 8, 255, 256, 257, 511, 512, 513, 65535, 65536, 65537, 65792, largest];
const heads = new Map(sizes.map(size => [size, headOf(size)]));
let proofs = 0;
for (const size of sizes) {
  const head = heads.get(size);
  const tiles = new LogTiles(exports, head, async path => file(size, path));
  const places = new Set([0, 1, 254, 255, 256, 257, 511, 512, 65535, 65536, size - 2, size - 1, Math.floor(size / 2)]);
  for (const index of places) {
    if (index < 0 || index >= size) continue;
    const hashes = await tiles.inclusion(index);
    proofs += 1;
    expect(isLogged(exports, head, index, entry(index), hashes), `entry ${index} of ${size}`);
    expect(!isLogged(exports, head, index, entry(index + 1), hashes), `another entry at ${index} of ${size}`);
    if (hashes.length > 0) {
      expect(!isLogged(exports, head, index, entry(index), hashes.slice(1)), `a shorter path at ${index} of ${size}`);
      const edited = hashes.with(0, hashes[0].map((byte, at) => (at === 0 ? byte ^ 1 : byte)));
      expect(!isLogged(exports, head, index, entry(index), edited), `another hash at ${index} of ${size}`);
    }
  }
  for (const earlier of sizes.filter(each => each < size)) {
    const hashes = await tiles.consistency(earlier);
    proofs += 1;
    expect(isGrownFrom(exports, heads.get(earlier), head, hashes), `${size} after ${earlier}`);
    const another = { size: earlier, root: hex(sha256(Uint8Array.of(earlier & 255))) };
    expect(!isGrownFrom(exports, another, head, hashes), `${size} after another ${earlier}`);
  }
}
console.log(`proofs from tiles: ${proofs}`);
if (failures > 0) { console.error(`${failures} failures.`); process.exit(1); }
