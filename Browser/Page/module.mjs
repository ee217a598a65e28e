// SPDX-License-Identifier: Apache-2.0
// A module of the project in WebAssembly: fields in, a code and fields out. What is true or false comes from the module.

const text = new TextEncoder();

/** A fresh instance of the compiled module. One instance serves one verification: nothing is carried over. */
export async function load(module) {
  let memory;
  const random = (place, count) => crypto.getRandomValues(new Uint8Array(memory.buffer, place >>> 0, count));
  const instance = await WebAssembly.instantiate(module, { signet: { random } });
  memory = instance.exports.memory;
  return instance.exports;
}

export class Fields {
  parts = [];
  raw(bytes) { this.parts.push(bytes); return this; }
  u64(value) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
    return this.raw(bytes);
  }
  bytes(value) {
    const bytes = typeof value === 'string' ? text.encode(value) : value;
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, bytes.length);
    return this.raw(length).raw(bytes);
  }
  done() {
    const all = new Uint8Array(this.parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.parts) { all.set(part, at); at += part.length; }
    return all;
  }
}

/** Calls a function of the module. Only a returned code is an answer: a trap throws, and nothing was verified. */
export function call(exports, name, input) {
  const place = exports.signet_input(input.length);
  if (place === 0 && input.length > 0) throw new RangeError('The answer is longer than 4 MiB.');
  new Uint8Array(exports.memory.buffer, place >>> 0, input.length).set(input);
  const code = exports[name]();
  const count = exports.signet_output_count();
  const output = new Uint8Array(exports.memory.buffer, exports.signet_output() >>> 0, count).slice();
  return { code, output };
}

export const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
export const unhex = digits => Uint8Array.from(digits.match(/../g) ?? [], pair => parseInt(pair, 16));

/** A number, or its digits where a number would round. */
const exact = value => (value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value));

/** Reads what a function put out, field by field. */
export class Output {
  constructor(bytes) { this.bytes = bytes; this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length); this.at = 0; }
  u8() { this.at += 1; return this.view.getUint8(this.at - 1); }
  u16() { this.at += 2; return this.view.getUint16(this.at - 2); }
  u32() { this.at += 4; return this.view.getUint32(this.at - 4); }
  u64() { this.at += 8; return exact(this.view.getBigUint64(this.at - 8)); }
  raw(count) { this.at += count; return this.bytes.slice(this.at - count, this.at); }
  field() { return this.raw(this.u32()); }
  words() { return new TextDecoder().decode(this.field()); }
}
