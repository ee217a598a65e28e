// SPDX-License-Identifier: Apache-2.0

public import SignetAPI

/// What the notes part of `signetd` answers. An outcome that is a rule of the notes is a value in the answer.
public enum NoteRoute: String, PartRoute {
    /// Changes of notes: ``NotePushes``, answer ``NotePushOutcomes``.
    case push
    /// What is new for the account: ``FeedRequest``, answer ``FeedAnswer``.
    case pull
    /// Returns when something is new, or late: ``WaitRequest``, answer ``WaitAnswer``.
    case wait
    /// Keys of notes for the own devices: ``OwnWrapChanges``, answer ``OwnWrapOutcomes``.
    case ownWraps = "own-wraps"
    /// Stores pieces of a file: ``ChunkUpload``, answer ``BlobOutcome``.
    case putChunks = "chunks/put"
    /// Fetches pieces of a file: ``ChunkRequest``, answer ``ChunkAnswer``.
    case chunks
    /// Forgets a file: ``BlobRemoval``, answer ``BlobOutcome``.
    case dropBlob = "blobs/drop"
    /// The wraps of the account master key: empty body, answer ``AccountKeys``.
    case accountKeys = "account-keys"
    /// Replaces them: ``AccountKeysChange``, answer ``AccountKeysOutcome``.
    case putAccountKeys = "account-keys/put"
    /// The account's heads: ``AccountHeadsRequest``, answer ``AccountHeadsAnswer``.
    case accountHeads = "account-heads"
    /// The next head: ``AccountHeadChange``, answer ``AccountHeadOutcome``.
    case putAccountHead = "account-heads/put"
    /// What the directory's log says of notes: ``LoggedHeadsRequest``, answer ``LoggedHeadsAnswer``.
    case loggedHeads = "logged-heads"
    /// The comments that the log names: ``ChildListRequest``, answer ``ChildListAnswer``.
    case childList = "child-list"
    /// First step of a registration with a password: ``RegistrationBeginning``, answer ``RegistrationEvaluation``.
    case beginRegistration = "registration/begin"
    /// Second: ``RegistrationEnd``, answer ``AccountKeysOutcome``.
    case endRegistration = "registration/end"
    /// First step of a login: ``LoginBeginning``, answer ``LoginChallenge``. Open to anyone, limited.
    case beginLogin = "login/begin"
    /// Second: ``LoginEnd``, answer ``LoginAnswer``. Open to anyone, limited.
    case endLogin = "login/end"
    /// Erases everything the server holds of the account's notes: ``NotesErasure``, empty answer.
    case erase

    /// The path.
    public var path: String { "/v1/notes/\(rawValue)" }

    /// Who may call it: a device of an account; a login, anyone.
    public var access: PartAccess {
        switch self {
        case .beginLogin, .endLogin: .open
        default: .signed
        }
    }

    /// What was written since must not be erased by a request of before.
    public var isRepeatable: Bool { self != .erase }

    /// Only a wait is kept until something is new.
    public var longestWait: Duration { self == .wait ? .seconds(Int(WaitRequest.maximumSeconds)) : .zero }

    /// No request body is longer, in bytes.
    public var maximumRequestByteCount: Int {
        switch self {
        case .push: 1 << 22
        case .putChunks, .putAccountHead: 1 << 21
        case .ownWraps, .putAccountKeys: 1 << 18
        case .loggedHeads: 1 << 13
        default: 1024
        }
    }

    /// No answer is longer, in bytes.
    public var maximumAnswerByteCount: Int {
        switch self {
        case .pull: 1 << 22
        case .chunks, .accountHeads, .loggedHeads: 1 << 21
        case .accountKeys, .childList: 1 << 18
        case .push: 1 << 14
        default: 1024
        }
    }

    /// How many tokens a request costs its address.
    public var cost: UInt64 {
        switch self {
        case .beginRegistration, .endRegistration, .beginLogin, .endLogin, .erase: 10
        case .push, .pull, .putChunks, .chunks, .ownWraps, .loggedHeads: 2
        default: 1
        }
    }
}
