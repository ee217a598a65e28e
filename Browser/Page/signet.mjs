// SPDX-License-Identifier: Apache-2.0
// Bytes in, verdict out. No rule is written here: what is true or false comes from the module.

import { call, Fields, hex, Output, unhex } from './module.mjs';

/** `known` is { origin, size, root, epoch: { number, time } }, `label` { count, root }; both may be missing. */
export function lookupInput({ policy, vrfKey, handle, answer, now, maximumAge, clockSkew, known, label }) {
  const none = new Uint8Array(0);
  return new Fields().bytes(policy).bytes(vrfKey).bytes(handle).bytes(answer)
    .u64(now).u64(maximumAge).u64(clockSkew)
    .bytes(known?.origin ?? '').u64(known?.size ?? 0).bytes(known ? unhex(known.root) : none)
    .u64(known?.epoch?.number ?? 0).u64(known?.epoch?.time ?? 0)
    .u64(label?.count ?? 0).bytes(label ? unhex(label.root) : none).done();
}

/** What a lookup proved, or the check that refused it: its place among those of `allChecks`, from 1. */
export function lookupVerdict({ code, output }) {
  const read = new Output(output);
  if (code === 0) return { outcome: 'refused', check: read.u8(), passed: read.u16() };
  if (code < 1 || code > 3) throw new Error('The call is malformed; nothing was verified.');
  read.raw(3);
  const verdict = { age: read.u64(), origin: read.words(), size: read.u64(), root: hex(read.raw(32)),
    epoch: { number: read.u64(), time: read.u64() }, note: read.field() };
  verdict.outcome = ['', 'registered', 'closed', 'absent'][code];
  if (code < 3) Object.assign(verdict, { version: read.u64(), count: read.u64(), historyRoot: hex(read.raw(32)) });
  if (code === 1) Object.assign(verdict, { state: hex(read.raw(32)), encoded: read.field() });
  return verdict;
}

/** The trust in a directory, from the text of its file; null if it is none. */
export function readDirectory(exports, file) {
  const { code, output } = call(exports, 'signet_directory', new Fields().bytes(file).done());
  if (code !== 1) return null;
  const read = new Output(output);
  const trust = { url: read.words(), vrfKey: read.field(), maximumAge: read.u64(), clockSkew: read.u64(), policy: read.field(),
    origin: read.words() };
  trust.witnesses = Array.from({ length: read.u32() }, () => ({ name: read.words(), isVerified: read.u8() === 1 }));
  return trust;
}

/** The handle in its one spelling, and what to send; null for what is no handle. `known` and `label` as for a lookup. */
export function lookupRequest(exports, typed, known, label) {
  const input = new Fields().bytes(typed).u64(known?.size ?? 0).u64(label?.count ?? 0).done();
  const { code, output } = call(exports, 'signet_request', input);
  if (code !== 1) return null;
  const read = new Output(output);
  return { handle: read.words(), request: read.field() };
}

/** The checks of a lookup that refuse a checkpoint by itself, by the module's code. */
const checkpointSteps = { 3: 'checkpoint-text', 4: 'origin', 5: 'log-signature', 6: 'cosignatures', 7: 'cosignatures', 9: 'freshness' };

export function verifyCheckpoint(exports, trust, note, now) {
  const input = new Fields().bytes(trust.policy).bytes(note).u64(now).u64(trust.maximumAge).u64(trust.clockSkew).done();
  const { code, output } = call(exports, 'signet_checkpoint', input);
  if (code !== 0) return { outcome: 'refused', check: checkpointSteps[code] ?? 'envelope' };
  const read = new Output(output);
  const found = { outcome: 'verified', origin: read.words(), size: read.u64(), root: hex(read.raw(32)), time: read.u64() };
  found.cosignatures = Array.from({ length: read.u32() }, () => ({ name: read.words(), time: read.u64(), isOutside: read.u8() === 1 }));
  return found;
}

/** Names and statements of the checks of a lookup, in order. */
export function allChecks(exports) {
  const { code, output } = call(exports, 'signet_checks', new Uint8Array(0));
  const read = new Output(output);
  return Array.from({ length: code }, () => ({ name: read.words(), statement: read.words() }));
}

/** The epoch records in an entry bundle of so many entries, with their place in it. */
export function epochsIn(exports, width, bundle) {
  const { code, output } = call(exports, 'signet_epochs', new Fields().u64(width).bytes(bundle).done());
  if (code < 0) throw new Error('What the log serves as entries has not their form.');
  const read = new Output(output);
  return Array.from({ length: code }, () => ({
    place: read.u32(), number: read.u64(), time: read.u64(), start: read.u64(), labels: read.u64(), entry: read.field() }));
}

/**
 * A log's tiles, and the proofs put together from them (RFC 6962, section 2.1). Nothing is decided here: what these methods
 * return is given to the module, which accepts it or not.
 */
export class LogTiles {
  /** `fetchFile` gets a path below the log and returns bytes. */
  constructor(exports, head, fetchFile) { Object.assign(this, { exports, head, fetchFile, kept: new Map() }); }

  /** A tile of hashes of a level, or of entries for level 64. */
  async tile(level, index) {
    const { code, output } = call(this.exports, 'signet_tile', new Fields().u64(level).u64(index).u64(this.head.size).done());
    if (code !== 1) throw new RangeError('The log has no such tile.');
    const path = new TextDecoder().decode(output);
    if (!this.kept.has(path)) this.kept.set(path, await this.fetchFile(path));
    return this.kept.get(path);
  }

  /** The entries with their number, bundle by bundle. */
  async bundle(index) {
    const width = Math.min(256, this.head.size - index * 256);
    return { width, bytes: await this.tile(64, index) };
  }

  /** The hash over `count` leaves from `first` on, which is a multiple of the largest power of two in `count`. */
  async range(first, count) {
    const half = LogTiles.half(count);
    if (half * 2 !== count && count !== 1) return this.subtree([await this.range(first, half), await this.range(first + half, count - half)]);
    const level = Math.floor(Math.log2(count) / 8);
    const unit = 256 ** level;
    const at = (first / unit) % 256;
    const tile = await this.tile(level, Math.floor(first / unit / 256));
    const hashes = tile.subarray(32 * at, 32 * (at + count / unit));
    return this.subtree([hashes]);
  }

  subtree(parts) {
    const all = new Fields();
    for (const part of parts) all.raw(part);
    const { code, output } = call(this.exports, 'signet_subtree', new Fields().bytes(all.done()).done());
    if (code !== 1) throw new Error('A tile of the log is too short.');
    return output;
  }

  /** PATH(m, D[n]) */
  async inclusion(index, first = 0, count = this.head.size) {
    if (count === 1) return [];
    const half = LogTiles.half(count);
    return index < half
      ? [...await this.inclusion(index, first, half), await this.range(first + half, count - half)]
      : [...await this.inclusion(index - half, first + half, count - half), await this.range(first, half)];
  }

  /** PROOF(m, D[n]) */
  async consistency(size) { return size === this.head.size || size === 0 ? [] : this.subproof(size, 0, this.head.size, true); }

  async subproof(size, first, count, isWhole) {
    if (size === count) return isWhole ? [] : [await this.range(first, count)];
    const half = LogTiles.half(count);
    return size <= half
      ? [...await this.subproof(size, first, half, isWhole), await this.range(first + half, count - half)]
      : [...await this.subproof(size - half, first + half, count - half, false), await this.range(first, half)];
  }

  /** The largest power of two that is smaller than a count. */
  static half(count) {
    let half = 1;
    while (half * 2 < count) half *= 2;
    return half;
  }
}

const joined = hashes => hashes.reduce((all, hash) => all.raw(hash), new Fields()).done();

/** Whether the log with this head holds an entry at an index. */
export function isLogged(exports, head, index, entry, hashes) {
  const input = new Fields().u64(index).u64(head.size).raw(unhex(head.root)).bytes(entry).bytes(joined(hashes)).done();
  return call(exports, 'signet_logged', input).code === 1;
}

/** Whether a log with the later head only grew from the earlier one. */
export function isGrownFrom(exports, earlier, later, hashes) {
  const input = new Fields().u64(earlier.size).raw(unhex(earlier.root)).u64(later.size).raw(unhex(later.root)).bytes(joined(hashes)).done();
  return call(exports, 'signet_consistency', input).code === 1;
}
