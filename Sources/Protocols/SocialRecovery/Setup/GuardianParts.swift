// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import KeyTransparency
import SecretMemory
import SecretSharing

/// What a guardian has besides the share of the recovery key: a part of the key that opens the guardian list, of which two
/// are needed, and a part of the seed of the journal's key, of which as many are needed as of shares.
///
/// Wire form, 65 bytes: u8 place of both, 32-byte part of the list's key, 32-byte part of the seed.
struct GuardianParts: Sendable {
    static let byteCount = 65
    /// How many guardians open the list of guardians: none of them alone, with or without the server.
    static let directoryThreshold = 2

    let directory: ByteShare
    let journal: ByteShare

    /// The place of both, drawn at random.
    var place: UInt8 { directory.place }

    /// The parts of each guardian.
    static func cut(
        directoryKey: SecretBytes, journalSeed: SecretBytes, threshold: Int, count: Int,
        using generator: inout some RandomNumberGenerator
    ) throws(ByteSharingError) -> [GuardianParts] {
        let places = ByteShare.randomPlaces(count, using: &generator)
        let directory = try ByteShare.cut(
            directoryKey, threshold: directoryThreshold, at: places, using: &generator)
        let journal = try ByteShare.cut(journalSeed, threshold: threshold, at: places, using: &generator)
        return zip(directory, journal).map { GuardianParts(directory: $0, journal: $1) }
    }

    init(directory: ByteShare, journal: ByteShare) {
        self.directory = directory
        self.journal = journal
    }

    init(from reader: inout ByteReader) throws {
        let place = try reader.uint8()
        var bytes = try reader.array(64)
        defer { bytes.wipe() }
        guard
            let directory = ByteShare(
                place: place, value: SecretBytes(copying: bytes.span.extracting(0..<32))),
            let journal = ByteShare(place: place, value: SecretBytes(copying: bytes.span.extracting(32..<64)))
        else { throw RecoveryFormatError.invalidField }
        self.init(directory: directory, journal: journal)
    }

    func write(to writer: inout ByteWriter) {
        writer.write(place)
        directory.value.withSpan { writer.write(span: $0) }
        journal.value.withSpan { writer.write(span: $0) }
    }

    /// By what the list of guardians knows a guardian's whole part from a false one, 32 bytes: SHA-256 over
    /// `signet-part/v1` LF, u8 length and guardian's handle, u16 place, 32-byte share and the wire form.
    func hash(with share: SecretShare, of guardian: Handle) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-part/v1\n")
        writer.short(guardian.bytes)
        writer.write(share.index.value)
        share.scalar.withBytes { writer.write(span: $0) }
        write(to: &writer)
        var bytes = writer.bytes
        defer { bytes.wipe() }
        return Array(SHA256.hash(data: bytes))
    }
}
