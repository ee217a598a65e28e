// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import KeyTransparency

/// The file that a new device fetches: what the account committed to, the bundle, and the journal.
///
/// Wire form: `signet-recovery-file/v2` LF; commitment (104); u32 length and bundle; u32 length and journal; zeros up to a
/// multiple of 8192 bytes.
public struct RecoveryContents: Hashable, Sendable {
    /// What the account committed to.
    public let commitment: RecoveryCommitment
    /// The bundle's wire form.
    public let bundle: [UInt8]
    /// The journal.
    public let journal: RecoveryJournal
    private static let format: StaticString = "signet-recovery-file/v2\n"

    /// A file of these parts.
    public init(commitment: RecoveryCommitment, bundle: [UInt8], journal: RecoveryJournal) {
        self.commitment = commitment
        self.bundle = bundle
        self.journal = journal
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(commitment.encoded)
        writer.long(bundle)
        writer.long(journal.encoded)
        return writer.bytes.padded(toMultipleOf: 8192)
    }

    /// Reads the wire form; the parts are verified where they are used.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, Self.format) { reader in
            let contents = RecoveryContents(
                commitment: try RecoveryCommitment(decoding: reader.array(RecoveryCommitment.byteCount)),
                bundle: try reader.long(), journal: try RecoveryJournal(decoding: reader.long()))
            guard bytes.count.isMultiple(of: 8192) else { throw RecoveryFormatError.invalidField }
            let rest = reader.rest()
            guard rest.count < 8192, rest.allSatisfy({ $0 == 0 }) else { throw RecoveryFormatError.invalidField }
            return contents
        }
    }
}
