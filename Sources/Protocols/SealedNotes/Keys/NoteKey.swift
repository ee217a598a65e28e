// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import NoteLog
import SecureCell

/// The key of a note in one epoch: 32 random bytes that its members share.
///
/// Security: wiped when the last copy goes; prints nothing. It is made by ``generate(note:epoch:)``, or comes out of a wrap
/// whose commitment the owner signed.
public struct NoteKey: Sendable {
    /// 32.
    public static let byteCount = 32
    /// Whose.
    public let note: NoteID
    /// Which.
    public let epoch: UInt32
    let secret: SymmetricKey

    /// A new key from the system's random source.
    public static func generate(note: NoteID, epoch: UInt32) -> NoteKey {
        NoteKey(note: note, epoch: epoch, secret: SymmetricKey(size: .bits256))
    }

    init(note: NoteID, epoch: UInt32, secret: SymmetricKey) {
        self.note = note
        self.epoch = epoch
        self.secret = secret
    }

    /// What the control log names the key by, 32 bytes: HMAC-SHA-256(key, `signet-note-key/v1` LF ‖ note ‖ u32 epoch).
    ///
    /// Security: says nothing of the key, and no other key has the same.
    public var commitment: [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-note-key/v1\n")
        writer.write(note.bytes)
        writer.write(epoch)
        return Array(HMAC<SHA256>.authenticationCode(for: writer.bytes, using: secret))
    }
}

/// Why something of a note was not sealed or not opened. A retry does not help.
public enum SealedNoteError: Error, Hashable, Sendable {
    /// The key is another note's or another epoch's. The caller's mistake.
    case anotherKey
    /// A part is longer than its limit, or there are too many. The caller's mistake.
    case tooLong
    /// It does not open under this key for its place: altered, moved from elsewhere, or sealed under another key.
    case notOpened
    /// It opened, and what was sealed is not of the form. Its author made it so.
    case malformedContent
    /// The record was not made; see `NoteLog`.
    case record(NoteRecordError)
    /// The wrap is for another person or device, or for keys that this device no longer has.
    case notForThisDevice
    /// The wrap belongs to another note, or names a control entry that the log does not have, or another epoch.
    case notOfThisNote
    /// The wrap's recipient is not a member.
    case notAMember
    /// The wrap's sender may not hand out the key, or the device is not theirs.
    case noAuthority
    /// The wrap opened to a key that is not the one the owner committed to.
    case anotherCommitment
    /// A key of an earlier epoch that came with it is not the one the owner committed to.
    case anotherOlderCommitment(epoch: UInt32)
    /// A key that nothing can be encrypted to.
    case unusableKey
}
