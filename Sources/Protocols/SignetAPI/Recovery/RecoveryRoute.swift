/// How guardians, owners and new devices reach each other. The server keeps what it is given and can open none of it.
public enum RecoveryRoute: PartRoute {
    /// Keeps an owner's recovery file: ``RecoveryFile``; answer empty.
    case storeFile
    /// The recovery file of an account: 32-byte hash of its commitment, handle; answer the file.
    case file
    /// A sealed letter to another account: ``RecoveryLetter/Draft``; answer ``RecoveryVerdict``.
    case send
    /// The caller's letters: u64, the last number that is known; answer ``RecoveryLetterList``.
    case letters
    /// Letters that are done with: u64, up to which number; answer empty.
    case drop
    /// A new device's request to an account whose log shows its start: ``RecoveryAsking``; answer empty.
    case ask
    /// The request that an account has under way: the handle; answer ``RecoveryAsked``.
    case asked
    /// A guardian's answer to a request: ``RecoveryAnswer``; answer ``RecoveryVerdict``.
    case answer
    /// What guardians answered: ``RecoveryCollection``; answer ``RecoveryLetterList``.
    case answers

    /// The path.
    public var path: String {
        switch self {
        case .storeFile: "/v1/recovery/file/store"
        case .file: "/v1/recovery/file"
        case .send: "/v1/recovery/letters/send"
        case .letters: "/v1/recovery/letters"
        case .drop: "/v1/recovery/letters/drop"
        case .ask: "/v1/recovery/ask"
        case .asked: "/v1/recovery/asked"
        case .answer: "/v1/recovery/answer"
        case .answers: "/v1/recovery/answers"
        }
    }

    /// New devices have no account device yet: what they call is open.
    public var access: PartAccess {
        switch self {
        case .file, .ask, .answers: .open
        default: .signed
        }
    }

    /// Writing costs more.
    public var cost: UInt64 {
        switch self {
        case .storeFile, .ask: 10
        case .send, .answer: 4
        default: 1
        }
    }

    /// The longest request, in bytes.
    public var maximumRequestByteCount: Int {
        switch self {
        case .storeFile: 32 + RecoveryFile.maximumByteCount
        case .send, .answer: 512 + RecoveryLetter.bodyByteCount
        case .ask: 512 + RecoveryAsking.maximumRequestByteCount
        case .answers: 512 + RecoveryAsking.maximumRevealByteCount
        default: 512
        }
    }

    /// The longest answer, in bytes.
    public var maximumAnswerByteCount: Int {
        switch self {
        case .file: RecoveryFile.maximumByteCount
        case .letters, .answers: RecoveryLetterList.maximumByteCount
        case .asked: 512 + RecoveryAsking.maximumRequestByteCount + RecoveryAsking.maximumRevealByteCount
        default: 1
        }
    }
}
