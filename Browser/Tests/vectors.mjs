// SPDX-License-Identifier: Apache-2.0
// The vectors against the module, under node (Browser/Tests/node.mjs) and in a browser (Scripts/explore): every one must have the
// verdict it names, and nothing may trap.
import { load, call, Fields, unhex, hex } from '../Page/module.mjs';
import { allChecks, lookupInput, lookupVerdict } from '../Page/signet.mjs';

// Numbers of more digits than a double holds stay text, which BigInt reads.
const parse = bytes => JSON.parse(new TextDecoder().decode(bytes).replace(/(":\s*)(\d{16,})/g, '$1"$2"'));
const print = value => JSON.stringify(value).replace(/(":)"(\d{16,20})"/g, '$1$2');
const none = new Uint8Array(0);
const base64 = text => Uint8Array.from(atob(text ?? ''), letter => letter.charCodeAt(0));
const concat = parts => parts.reduce((all, part) => all.raw(part), new Fields()).done();
const digest = async (kind, bytes) => new Uint8Array(await crypto.subtle.digest(kind, bytes));
const hmac = async (key, bytes) => new Uint8Array(await crypto.subtle.sign('HMAC',
  await crypto.subtle.importKey('raw', key.length > 0 ? key : Uint8Array.of(0), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']), bytes));

/**
 * Runs all of them.
 *
 * - `read(path)`: a file below the repository, as bytes; `outside(path)`: an outside vector, or null where there is none
 * - `list(path)`: the names in a folder below the repository
 * - `write(path, text or bytes)`: what the module says of changed lookups, proofs and signatures, in the form of vectors, so that
 *   signet-vectors can hold the native verifier and swift-crypto against it
 * - `changes`: how many there are; `seed`: of which
 */
export async function runVectors({ module, read, outside, list, write = () => {}, changes: mutants = 10000, seed = 20260726, say, tell }) {
  const ours = read;
  const theirs = async path => { const bytes = await outside(path); return bytes ? parse(bytes) : null; };
  const run = async (name, input) => call(await load(module), name, input);

  let failures = 0;
  const fail = message => { failures += 1; if (failures <= 20) tell(message); };

  const random = bound => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return (seed >>> 8) % bound; };
  const randomBytes = count => Uint8Array.from({ length: count }, () => random(256));

  /** One to three changes: a bit, a byte, a byte from elsewhere, and seldom a shorter end. */
  function changed(original) {
    let bytes = Uint8Array.from(original);
    for (let left = 1 + random(3); left > 0 && bytes.length > 0; left--) {
      const at = random(bytes.length);
      const kind = random(13);
      if (kind === 0) bytes = bytes.slice(0, at);
      else if (kind < 5) bytes[at] = random(256);
      else if (kind < 9) bytes[at] = bytes[random(bytes.length)];
      else bytes[at] ^= 1 << random(8);
    }
    return bytes;
  }

  // Lookups.
  const lookups = parse(await ours('Vectors/lookup/lookup.json'));
  // The vectors spell a check as Swift does.
  const names = allChecks(await load(module)).map(({ name }) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()));
  const lookup = async (given, answer) => {
    const found = lookupVerdict(await run('signet_lookup', lookupInput(
      { ...given, vrfKey: unhex(given.vrfKey), answer, known: given.knownLog, label: given.knownLabel })));
    return found.check ? { ...found, check: names[found.check - 1] } : found;
  };
  for (const given of lookups) {
    const found = await lookup(given, unhex(given.answer));
    for (const key of Object.keys(given.verdict)) {
      if (found[key] !== given.verdict[key]) fail(`lookup ${given.name}: ${key} is ${found[key]}, not ${given.verdict[key]}`);
    }
  }
  say('lookup', lookups.length);

  const kept = { refused: ['check'], registered: ['count', 'size', 'state', 'version'], closed: ['count', 'size', 'version'],
    absent: ['size'] };
  const judged = [], outcomes = {};
  for (let number = 0; number < mutants / 2; number++) {
    const given = lookups[random(lookups.length)];
    const answer = changed(unhex(given.answer));
    try {
      const found = await lookup(given, answer);
      const verdict = Object.fromEntries(['outcome', ...kept[found.outcome]].map(key => [key, found[key]]));
      judged.push({ ...given, name: `changed-${number}`, answer: hex(answer), verdict });
      outcomes[found.check ?? found.outcome] = (outcomes[found.check ?? found.outcome] ?? 0) + 1;
    } catch (error) { fail(`changed-${number} of ${given.name}: ${error}`); }
  }
  // Files of a size that signet-vectors reads.
  for (let start = 0; start < judged.length; start += 500) {
    write(`lookup/${start}.json`, print(judged.slice(start, start + 500)));
  }
  say('changed lookups', `${judged.length} ${JSON.stringify(outcomes)}`);

  // Proofs: a head of lines "name: value", an empty line, then policy, entry and proof one after the other.
  const proofs = [];
  for (const name of (await list('Vectors/tlog-proof')).filter(name => name.endsWith('.txt'))) {
    const bytes = await ours('Vectors/tlog-proof/' + name);
    let at = bytes.findIndex((byte, place) => byte === 10 && bytes[place + 1] === 10) + 2;
    const head = Object.fromEntries(new TextDecoder().decode(bytes.subarray(0, at)).split('\n').map(line => line.split(': ')));
    const [policy, entry, proof] = ['policy', 'entry', 'proof'].map(part => bytes.subarray(at, at += parseInt(head[part])));
    if (at !== bytes.length) fail(`tlog-proof ${name}: the parts are not all of the file`);
    proofs.push({ name, head, policy, entry, proof });
  }
  const proved = async ({ policy, entry, proof }) =>
    (await run('signet_tlog_proof', new Fields().bytes(policy).bytes(entry).bytes(proof).done())).code;
  for (const given of proofs) {
    const code = await proved(given);
    if ((code === 0) !== (given.head.expect === 'accept')) fail(`tlog-proof ${given.name}: step ${code}`);
  }
  say('tlog-proof', proofs.length);

  const index = [];
  const small = proofs.filter(given => given.proof.length < 4000 && given.head.expect === 'accept');
  for (let number = 0; number < mutants / 5; number++) {
    const given = small[random(small.length)];
    const proof = changed(given.proof);
    const name = `changed-${number}`;
    try {
      const valid = (await proved({ ...given, proof })) === 0;
      const files = { policy: given.policy, entry: given.entry, proof };
      for (const [part, bytes] of Object.entries(files)) write(`tlog-proof/${name}.${part}`, bytes);
      index.push({ name, valid, why: 'changed', size: Number(given.head.size), index: Number(given.head.index),
        ...Object.fromEntries(Object.keys(files).map(part => [part, `${name}.${part}`])) });
    } catch (error) { fail(`${name} of ${given.name}: ${error}`); }
  }

  write('tlog-proof/index.json', JSON.stringify(index));

  // Trees, in the schema of transparency-dev/merkle, and tries. A root that is no hash stands for the hash of its bytes.
  const root = async text => {
    const bytes = base64(text);
    return bytes.length === 32 ? bytes : digest('SHA-256', concat([Uint8Array.of(0), bytes]));
  };
  for (const kind of ['inclusion', 'consistency']) {
    const cases = await theirs(`merkle/${kind}.json`);
    for (const given of cases ?? []) {
      const hashes = (given.proof ?? []).map(base64);
      const input = kind === 'inclusion'
        ? new Fields().u64(given.leafIdx).u64(given.treeSize).raw(base64(given.root)).raw(base64(given.leafHash))
        : new Fields().u64(given.size1).raw(await root(given.root1)).u64(given.size2).raw(await root(given.root2));
      // A hash has 32 bytes by its type, in Swift as here.
      const code = hashes.every(hash => hash.length === 32)
        ? (await run(`signet_${kind}`, input.bytes(concat(hashes)).done())).code : 0;
      if ((code === 1) === given.wantErr) fail(`merkle ${kind} ${given.name ?? given.desc}: ${code}`);
    }
    say(`merkle ${kind}`, cases?.length);
  }
  const tries = await theirs('mpt/mpt.json');
  let mapped = 0;
  for (const trie of tries ?? []) {
    for (const given of [...trie.presence, ...trie.absence]) {
      const input = (value, proof) =>
        new Fields().raw(unhex(given.key)).raw(unhex(trie.root)).bytes(value).bytes(proof).done();
      const [value, proof] = [unhex(given.value), unhex(given.proof)];
      if ((await run('signet_map', input(value, proof))).code !== 1) fail(`mpt ${trie.n} ${given.key}: refused`);
      // The same proof says nothing of another value.
      const other = value.length > 0 ? Uint8Array.from(value, (byte, at) => (at === 0 ? byte ^ 1 : byte)) : new Uint8Array(32);
      if ((await run('signet_map', input(other, proof))).code === 1) fail(`mpt ${trie.n} ${given.key}: another value`);
      mapped += 1;
    }
  }
  say('mpt', tries ? mapped : undefined);

  // A length that 32 bits hold and an `Int` of WebAssembly does not: refused, and no trap.
  for (const length of [0x7fffffff, 0x80000000, 0xffffffff]) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setUint32(0, length);
    for (const name of ['signet_lookup', 'signet_tlog_proof', 'signet_p256']) {
      const { code } = await run(name, bytes);
      if (code !== (name === 'signet_tlog_proof' ? 1 : -1)) fail(`${name}, a length of ${length}: ${code}`);
    }
  }
  // More than 4 MiB is not even read.
  try { await run('signet_lookup', new Uint8Array((4 << 20) + 1)); fail('an input of more than 4 MiB was read'); }
  catch (error) { if (!(error instanceof RangeError)) fail(`an input of more than 4 MiB: ${error}`); }

  // A policy that is all lines: refused, or the memory ends and the module traps. Never a verdict, never more than 32 MiB.
  {
    const exports = await load(module);
    const policy = new Uint8Array((4 << 20) - 200).fill(10);
    const input = lookupInput({ policy, vrfKey: none, handle: '', answer: none, now: 0, maximumAge: 0, clockSkew: 0 });
    try {
      const { code } = call(exports, 'signet_lookup', input);
      if (code !== -1) fail(`a policy of line ends: ${code}`);
    } catch (error) { if (!(error instanceof WebAssembly.RuntimeError)) fail(`a policy of line ends: ${error}`); }
    if (exports.memory.buffer.byteLength > 32 << 20) fail('more than 32 MiB of memory');
  }

  // Primitives.
  const one = await load(module);
  const primitive = (name, ...parts) => call(one, name, parts.reduce((fields, part) => fields.bytes(part), new Fields()).done());
  for (let length = 0; length < 700; length++) {
    const [key, message] = [randomBytes(random(140)), randomBytes(length)];
    const want = hex(await digest('SHA-256', message)) + hex(await digest('SHA-512', message)) + hex(await hmac(key, message));
    if (hex(primitive('signet_sha2', key, message, none).output) !== want) fail(`SHA-2 of ${length} bytes`);
  }
  say('SHA-2 and HMAC as WebCrypto', '700 lengths');

  const compressed = digits => {
    const bytes = unhex(digits);
    return Uint8Array.from([2 + (bytes[64] & 1), ...bytes.slice(1, 33)]);
  };
  const kinds = {
    ed25519: { path: 'wycheproof/ed25519_test.json', key: group => unhex((group.publicKey ?? group.key).pk),
      group: key => ({ publicKey: { pk: hex(key) } }) },
    p256: { path: 'wycheproof/ecdsa_secp256r1_sha256_p1363_test.json', key: group => compressed(group.publicKey.uncompressed),
      group: (key, group) => ({ type: group.type, publicKey: { uncompressed: group.publicKey.uncompressed } }) },
  };
  for (const [name, { path, key, group }] of Object.entries(kinds)) {
    const suite = await theirs(path);
    const isValid = (bytes, message, signature) => primitive(`signet_${name}`, bytes, message, signature).code === 1;
    let count = 0;
    const groups = [];
    for (const given of suite?.testGroups ?? []) {
      const bytes = key(given);
      for (const test of given.tests) {
        count += 1;
        const is = isValid(bytes, unhex(test.msg), unhex(test.sig));
        if (test.result !== 'acceptable' && is !== (test.result === 'valid')) fail(`${path} ${test.tcId}: ${is}`);
      }
    }
    say(path, suite ? count : undefined);
    if (!suite) continue;
    const judge = (bytes, from, message, signature) => groups.push({ ...group(bytes, from), tests: [{ tcId: groups.length,
      comment: 'changed', msg: hex(message), sig: hex(signature), result: isValid(bytes, message, signature) ? 'valid' : 'invalid' }] });
    for (let number = 0; number < mutants / 10; number++) {
      const from = suite.testGroups[random(suite.testGroups.length)];
      const test = from.tests[random(from.tests.length)];
      const part = random(name === 'ed25519' ? 3 : 2);
      const [bytes, message, signature] = [key(from), unhex(test.msg), unhex(test.sig)];
      const change = (wanted, value) => (part === wanted && value.length > 0 ? Uint8Array.from(changed(value)) : value);
      const other = change(2, bytes);
      if (other.length === bytes.length) judge(other, from, change(1, message), change(0, signature));
    }
    if (name === 'ed25519') odd().forEach(([bytes, signature]) => judge(bytes, null, Uint8Array.of(1), signature));
    write(`${name}.json`, JSON.stringify({ testGroups: groups }));
  }

  /** Keys and halves of signatures that are no ordinary points: small order, y not reduced, x = 0 with a sign; S at its bounds. */
  function odd() {
    const little = (first, fill, last) => Uint8Array.from([first, ...new Array(30).fill(fill), last]);
    const points = [];
    for (const last of [0x00, 0x80]) for (const first of [0, 1, 2, 3, 4]) points.push(little(first, 0, last));
    for (const last of [0x7f, 0xff]) for (const first of [0xea, 0xeb, 0xec, 0xed, 0xee, 0xef, 0xff]) points.push(little(first, 0xff, last));
    for (const order8 of ['26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a']) {
      const point = unhex(order8);
      points.push(point, Uint8Array.from([...point.slice(0, 31), point[31] ^ 0x80]));
    }
    const order = unhex('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010');
    const scalars = [little(0, 0, 0), little(1, 0, 0), Uint8Array.from(order, (byte, at) => byte - (at === 0 ? 1 : 0)), order];
    return points.flatMap(key => points.flatMap(half => scalars.map(scalar => [key, Uint8Array.from([...half, ...scalar])])));
  }

  return failures;
}
