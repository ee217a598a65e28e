// SPDX-License-Identifier: Apache-2.0

/// A place in the index that does not belong to an account. There a directory logs hashes of its public statements, one
/// state record of kind `set` after the other, the commitment of which is SHA-256 of what it says.
///
/// The label is SHA-256 of a name of its own, and so never the hash of a VRF output.
public enum ReservedLabel: Hashable, Sendable, CaseIterable {
    /// ``NotesRoot``: SHA-256(`kt-notes/v1`).
    case notes
    /// By which TLS keys clients know the server: SHA-256(`kt-pins/v1`).
    case pins
    /// What the signer of wallet cards says of itself: SHA-256(`kt-card-signer/v1`).
    case cardSigner
    /// Which pages the server sends to browsers: SHA-256(`kt-web-pages/v1`).
    case pages

    /// Where it stands.
    public var index: LabelIndex {
        switch self {
        case .notes: LabelIndex(of: "kt-notes/v1")
        case .pins: LabelIndex(of: "kt-pins/v1")
        case .cardSigner: LabelIndex(of: "kt-card-signer/v1")
        case .pages: LabelIndex(of: "kt-web-pages/v1")
        }
    }

    /// The record of what was said.
    ///
    /// - Parameter version: from 1; one more than that of the record before.
    public func record(of bytes: [UInt8], version: UInt64) -> StateRecord {
        StateRecord(label: index, version: version, kind: .set, commitment: StateCommitment(hashing: bytes))
    }

    /// Whether a record stands at such a place.
    public static func holds(_ record: StateRecord) -> Bool { allCases.contains { $0.index == record.label } }
}
