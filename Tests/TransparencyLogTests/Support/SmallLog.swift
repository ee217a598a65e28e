// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// A log of a few entries with three witnesses, all with fixed keys.
struct SmallLog {
    let entries: [[UInt8]]
    let log: NoteSigner
    let witnesses: [NoteSigner]
    private(set) var tree = MerkleTree()

    init(count: Int = 11) throws {
        entries = (0..<count).map { Array("entry number \($0)".utf8) }
        log = try signer("log.example/one", .ed25519, seed: 1)
        witnesses = try (0..<3).map {
            try signer("witness.example/\($0)", .cosignatureV1, seed: 10 + UInt8($0))
        }
        for entry in entries { tree.append(.leaf(entry)) }
    }

    /// A checkpoint text of this log's first `size` entries.
    func text(size: Int, extensions: [[UInt8]] = []) throws -> [UInt8] {
        try Checkpoint(
            origin: log.verifierKey.name, head: tree.head(size: UInt64(size)), extensions: extensions
        ).text
    }

    /// The signed checkpoint, cosigned by the first witnesses at these times.
    func note(size: Int, times: [UInt64] = []) throws -> SignedNote {
        let text = try text(size: size)
        let cosignatures = try zip(witnesses, times).map { try $0.cosign(text, time: $1) }
        return try SignedNote(text: text, signatures: [try log.sign(text)] + cosignatures)
    }

    func proof(index: Int, size: Int, times: [UInt64] = [], extra: [UInt8]? = nil) throws -> TlogProof {
        try TlogProof(
            extra: extra, inclusion: tree.inclusionProof(index: UInt64(index), size: UInt64(size)),
            note: note(size: size, times: times))
    }

    /// A policy for this log: its witnesses `w0` to `w2`, and the lines that the test adds.
    func policy(_ lines: String) throws -> Policy {
        var text = Array("log ".utf8) + log.verifierKey.encoded + [0x0A]
        for (number, witness) in witnesses.enumerated() {
            text += Array("witness w\(number) ".utf8) + witness.verifierKey.encoded + [0x0A]
        }
        return try Policy(decoding: text + Array(lines.utf8))
    }
}

func keyName(_ text: String) throws -> KeyName { try KeyName(Array(text.utf8)) }

func signer(_ name: String, _ algorithm: VerifierKey.Algorithm, seed: UInt8) throws -> NoteSigner {
    try NoteSigner(name: keyName(name), algorithm: algorithm, seed: Array(repeating: seed, count: 32))
}

extension [UInt8] {
    /// The bytes with the first occurrence of `text` replaced.
    func replacing(first text: String, with replacement: String) -> [UInt8] {
        let pattern = Array(text.utf8)
        guard let start = indices.first(where: { self[$0...].starts(with: pattern) }) else { return self }
        return self[..<start] + Array(replacement.utf8) + self[(start + pattern.count)...]
    }
}
