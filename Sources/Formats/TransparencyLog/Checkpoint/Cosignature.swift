// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A timestamped signature on a checkpoint: 8 bytes of time, and 64 of Ed25519 or 2420 of ML-DSA-44.
///
/// Spec: C2SP tlog-cosignature, "Format", "Ed25519 signed message", "ML-DSA-44 signed message".
struct Cosignature: Hashable, Sendable {
    static let maximumTime = UInt64(Int64.max)
    /// Seconds since 1970.
    let time: UInt64
    /// 64 or 2420 bytes.
    let signature: [UInt8]

    init(time: UInt64, signature: [UInt8]) {
        self.time = time
        self.signature = signature
    }

    init(decoding blob: [UInt8], _ algorithm: VerifierKey.Algorithm) throws(NoteSignatureError) {
        guard let count = Self.signatureByteCount(algorithm) else { throw .wrongAlgorithm }
        guard blob.count == 8 + count else { throw .wrongLength(blob.count) }
        time = blob[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        signature = Array(blob[8...])
        guard time <= Self.maximumTime else { throw .timeOutOfRange }
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(time)
        writer.write(signature)
        return writer.bytes
    }

    /// Nil for a type that makes no cosignatures.
    private static func signatureByteCount(_ algorithm: VerifierKey.Algorithm) -> Int? {
        switch algorithm {
        case .cosignatureV1: 64
        case .mlDSA44: MLDSA44.signatureByteCount
        case .ed25519, .other: nil
        }
    }

    /// What a cosigner with a key of this type and name signs; nil for a type that makes no cosignatures, and where
    /// ML-DSA-44 cannot say it: no checkpoint, or a name or an origin of more than 255 bytes.
    static func message(
        text: [UInt8], time: UInt64, _ name: KeyName, _ algorithm: VerifierKey.Algorithm
    ) -> [UInt8]? {
        switch algorithm {
        case .cosignatureV1: message(text: text, time: time)
        case .mlDSA44: treeMessage(text: text, time: time, name)
        case .ed25519, .other: nil
        }
    }

    /// The whole tree as a subtree: label, cosigner's name, time, origin, start, end and root. Extension lines are not
    /// covered.
    private static func treeMessage(text: [UInt8], time: UInt64, _ name: KeyName) -> [UInt8]? {
        guard let checkpoint = try? SubmittedCheckpoint(decoding: text),
            let nameLength = UInt8(exactly: name.bytes.count),
            let originLength = UInt8(exactly: checkpoint.origin.count)
        else { return nil }
        var writer = ByteWriter()
        writer.write("subtree/v1\n\0")
        writer.write(nameLength)
        writer.write(name.bytes)
        writer.write(time)
        writer.write(originLength)
        writer.write(checkpoint.origin)
        writer.write(UInt64(0))
        writer.write(checkpoint.head.size)
        writer.write(checkpoint.head.root.bytes)
        return writer.bytes
    }

    /// What Ed25519 signs: two lines of its own, then the whole text of the checkpoint with its extension lines.
    private static func message(text: [UInt8], time: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("cosignature/v1\ntime ")
        writer.write(Decimal.encode(time))
        writer.write("\n")
        writer.write(text)
        return writer.bytes
    }
}

extension SignedNote {
    /// The newest time of its cosignatures, in seconds since 1970, as they claim to be; nil if there is none. Nothing is verified.
    public var lastCosigned: UInt64? {
        let times = signatures.flatMap { line in
            [VerifierKey.Algorithm.cosignatureV1, .mlDSA44].compactMap {
                try? Cosignature(decoding: line.blob, $0).time
            }
        }
        return times.max()
    }
}
