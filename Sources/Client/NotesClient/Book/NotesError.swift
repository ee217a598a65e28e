// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
public import NotesAPI
public import PinnedHTTP
public import SealedNotes
public import SignetClient

/// Why something was not done with notes. The four families are ``family``.
public enum NotesError: Error, Hashable, Sendable {
    /// The directory or the network.
    case client(ClientError)
    /// The file of the notes.
    case store(StoreError)
    /// Sealing or opening.
    case sealed(SealedNoteError)
    /// No note has this name.
    case noSuchNote(NoteID)
    /// The note stays closed.
    case locked(NoteLock)
    /// The user may read the note only.
    case mayNotWrite
    /// Only the note's owner may do this.
    case onlyOwner(Handle)
    /// The note was taken away from the user, or deleted.
    case isGone
    /// The note is the user's own: its owner transfers or deletes it, and does not leave.
    case ownersStay
    /// The device believes all revisions of the note that it has.
    case nothingToRevert
    /// The person is not a member of the note.
    case notAMember(Handle)
    /// The person has this role already, or a higher one.
    case memberAlready(Handle)
    /// The user has not chosen this person: nothing is encrypted to them.
    case stranger(Handle)
    /// The person has not accepted the user, or does so no more: nothing is shared with them.
    case notAccepted(by: Handle)
    /// The person's devices have changed; nothing is encrypted to them until the user accepts the change.
    case changedKeys(Handle, PeerKeyChange)
    /// The person's keys contradict what the directory proved before.
    case contradicted(Handle, PeerContradiction)
    /// The account's key is not on this device: another device hands it over, or the password or recovery key opens it.
    case noAccountKey
    /// The password is another, or the account has none; the two cannot be told apart.
    case wrongPassword
    /// The new password is among the first that the server's operator would try.
    case weakPassword(SecretWeakness)
    /// The user locked the notes on this device.
    case isLocked
    /// A file was changed while it was read.
    case fileChanged
    /// A lock that nothing opens: the account has neither a notes password nor a recovery key.
    case nothingUnlocks
    /// The server refuses the change permanently.
    case refused(PushRefusal)
    /// There is no room for the change.
    case noRoom(NoteLimit)
    /// The server or others changed the note again and again.
    case keepsMoving
    /// The note may not be here as it is for others: nothing is sent to it.
    case doubted(HeadDoubt)
    /// A sealed export is not made, or not taken in.
    case bundle(BundleError)
    /// The server shows page after page of what is new, and says that there is more. What came is kept; a retry goes on behind it.
    case endlessFeed
    /// The server does not have what it showed this device before.
    case serverWentBack
    /// The server lost that this note's owner had removed somebody from it: until the owner's device has done that again, nothing is written there.
    case removalIsLost(NoteID, owner: Handle)
    /// The server shows another history of the account than an own device.
    case accountHead(AccountHeadError)
    /// The account key that the server hands out is none of this account's.
    case accountKey(SealedNoteError)
    /// The answer cannot be read.
    case malformedAnswer
    /// A bug: the random source gave another count of bytes than it was asked for.
    case noRandomness

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .client(let error): error.family
        case .store(let error): error.family
        case .keepsMoving: .environment
        case .serverWentBack, .endlessFeed, .doubted, .accountHead, .accountKey, .malformedAnswer, .contradicted: .peer
        case .locked(let lock): lock.family
        case .bundle(.notRead), .bundle(.notWritten), .bundle(.notEnoughMemory): .environment
        case .noRandomness, .bundle(.notSealed): .bug
        default: .caller
        }
    }
}

extension NoteLock {
    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .noKey, .noAccountKey, .changedKeys, .waiting: .caller
        case .sealed, .control, .revisions, .child, .withheld, .missingFile, .doubted, .erased, .overfull: .peer
        }
    }
}
