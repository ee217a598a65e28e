// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import CardSigning

/// The tokens that a person has, for which cards are signed, sealed in the home folder.
///
/// Wire form before sealing, then zeros to a multiple of 4096 bytes: `signet-card-tokens/v1` LF; u16 count; each: 32 number, u16 length and
/// signature.
struct TokenPurse: SealedLedger {
    /// The most tokens that are kept; the oldest go first.
    static let maximumCount = 100
    static let format = Array("signet-card-tokens/v1\n".utf8)

    var tokens: [SigningToken] = []

    init() {}

    mutating func add(_ more: [SigningToken]) { tokens = Array((tokens + more).suffix(Self.maximumCount)) }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(UInt16(truncatingIfNeeded: tokens.count))
        for token in tokens {
            writer.write(token.number)
            writer.write(UInt16(truncatingIfNeeded: token.signature.count))
            writer.write(token.signature)
        }
        return Self.padded(writer.bytes)
    }

    init(decoding bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else { throw TokenPurseFault.form }
        for _ in 0..<(try reader.uint16()) {
            let number = Array(try reader.bytes(SigningToken.numberByteCount))
            tokens.append(SigningToken(number: number, signature: Array(try reader.bytes(Int(try reader.uint16())))))
        }
        guard encoded == bytes else { throw TokenPurseFault.form }
    }
}

private enum TokenPurseFault: Error {
    case form
}
