// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import KeyTransparency
import SecretSharing

/// What is left of a set of guardians that the first version of this program dealt: enough to deal again among the same
/// people. Its packets, sealed to P-256 keys, open nothing any more.
///
/// Form: `signet-setup/v1` LF, u8 stage, 72-byte commitment, u32 length and bundle, u8 count, for each guardian: u8 length and
/// handle, 33 + 33 bytes of keys, u8 kind and u64 date of the meeting, u16 place, 1105 bytes of packet, 32-byte challenge, u8
/// whether kept.
public struct FirstSetup: Sendable {
    private static let format: StaticString = "signet-setup/v1\n"
    /// The guardians, each with how the owner and they met.
    public let guardians: [(handle: Handle, meeting: MeetingEvidence)]
    /// How many of them recovered the identity.
    public let threshold: Int
    /// How long a recovery was open to objection, in seconds.
    public let delay: UInt32
    /// Of which epoch it was.
    public let epoch: UInt32

    /// Whether bytes are a set of the first version.
    public static func isOne(_ bytes: [UInt8]) -> Bool { bytes.starts(with: format.withUTF8Buffer { Array($0) }) }

    /// Reads what the owner's device kept.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, Self.format) { reader in try FirstSetup(from: &reader) }
    }

    private init(from reader: inout ByteReader) throws {
        _ = try reader.uint8()
        epoch = try reader.uint32()
        delay = try reader.uint32()
        _ = try reader.bytes(64)
        // First line, scope, time and delay come before the threshold.
        let bundle = try reader.long()
        guard bundle.count > 65, epoch > 0 else { throw RecoveryFormatError.invalidField }
        threshold = Int(bundle[65])
        var guardians: [(handle: Handle, meeting: MeetingEvidence)] = []
        for _ in 0..<(try reader.uint8()) {
            let handle = try reader.handle()
            _ = try reader.bytes(66)
            guard let kind = MeetingEvidence.Kind(rawValue: try reader.uint8()) else {
                throw RecoveryFormatError.invalidField
            }
            guardians.append((handle, MeetingEvidence(kind: kind, date: try reader.uint64())))
            _ = try reader.bytes(2 + 1105 + 32 + 1)
        }
        self.guardians = guardians
    }
}
