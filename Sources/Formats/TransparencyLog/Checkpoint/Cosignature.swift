import CanonicalCoding

/// A witness's timestamped Ed25519 signature on a checkpoint: 8 bytes of time and 64 of signature.
///
/// Spec: C2SP tlog-cosignature, "Format" and "Ed25519 signed message".
struct Cosignature: Hashable, Sendable {
    static let maximumTime = UInt64(Int64.max)
    static let byteCount = 72

    /// Seconds since 1970.
    let time: UInt64
    /// 64 bytes.
    let signature: [UInt8]

    init(time: UInt64, signature: [UInt8]) {
        self.time = time
        self.signature = signature
    }

    init(decoding blob: [UInt8]) throws(NoteSignatureError) {
        guard blob.count == Self.byteCount else { throw .wrongLength(blob.count) }
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

    /// What is signed: two lines of its own, then the whole text of the checkpoint with its extension lines.
    static func message(text: [UInt8], time: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("cosignature/v1\ntime ")
        writer.write(Decimal.encode(time))
        writer.write("\n")
        writer.write(text)
        return writer.bytes
    }
}
