import CanonicalCoding
import KeyTransparency
import SocialRecovery

/// A recovery under way on this device: ``RecoveryAttempt`` and what belongs to it. No secret of the account is in it.
///
/// `signet-recovering/v1` LF; 32-byte secret of the box; 32-byte number to reveal; u32 length and attempt; u32 length and
/// the file that was fetched; u8 count and for each guardian's number u8 length and handle, 32 bytes.
struct RecoveryRecord: Sendable {
    private static let format = Array("signet-recovering/v1\n".utf8)

    /// By which answers are collected.
    let secret: [UInt8]
    /// For the spoken code.
    let reveal: [UInt8]
    var attempt: RecoveryAttempt
    let contents: RecoveryContents
    /// Guardians' numbers for the spoken code.
    var numbers: [Handle: [UInt8]] = [:]

    init(secret: [UInt8], reveal: [UInt8], attempt: RecoveryAttempt, contents: RecoveryContents) {
        self.secret = secret
        self.reveal = reveal
        self.attempt = attempt
        self.contents = contents
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format + secret + reveal)
        for part in [attempt.encoded, contents.encoded] {
            writer.write(UInt32(truncatingIfNeeded: part.count))
            writer.write(part)
        }
        writer.write(UInt8(truncatingIfNeeded: numbers.count))
        for (handle, number) in numbers.sorted(by: { $0.key.description < $1.key.description }) {
            writer.write(UInt8(truncatingIfNeeded: handle.bytes.count))
            writer.write(handle.bytes + number)
        }
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
            throw RecoveryFormatError.unknownFormat
        }
        secret = Array(try reader.bytes(32))
        reveal = Array(try reader.bytes(32))
        attempt = try RecoveryAttempt(decoding: Array(reader.bytes(Int(reader.uint32()))))
        contents = try RecoveryContents(decoding: Array(reader.bytes(Int(reader.uint32()))))
        for _ in 0..<(try reader.uint8()) {
            let handle = try Handle(canonical: Array(reader.bytes(Int(reader.uint8()))))
            numbers[handle] = Array(try reader.bytes(32))
        }
        try reader.end()
    }
}
