// SPDX-License-Identifier: Apache-2.0

import KeyTransparency

/// How guardians, owners and new devices reach each other. The server keeps what it is given and can open none of it.
public enum RecoveryRoute: PartRoute {
    /// Keeps an owner's recovery file: ``RecoveryFile``; answer empty.
    case storeFile
    /// The caller's own recovery file: 32-byte hash of the commitment; answer the file.
    case file
    /// The recovery file for the device whose request the log shows: ``RecoveryFetch``; answer the file.
    case askedFile
    /// What an account commits to: ``RecoveryPromise/Query``; answer ``RecoveryPromise``.
    case commitment
    /// A sealed letter to another account: ``RecoveryLetter/Draft``; answer ``RecoveryVerdict``.
    case send
    /// The caller's letters: u64, the last number that is known; answer ``RecoveryLetterList``.
    case letters
    /// Letters that are done with: ``RecoveryDrop``; answer empty.
    case drop
    /// A new device's request, once more when the log shows its start: ``RecoveryAsking``; answer its ``RequestNumber``.
    case ask
    /// A request for an account: ``RecoveryQuery``; answer ``RecoveryAsked``.
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
        case .askedFile: "/v1/recovery/file/asked"
        case .commitment: "/v1/recovery/commitment"
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
        case .askedFile, .commitment, .ask, .answers: .open
        default: .signed
        }
    }

    /// A suspension must not keep a person from their guardians, or from getting an account back.
    public var protectsAccount: Bool { true }

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
        case .drop: 8 * RecoveryDrop.maximumCount
        case .send, .answer: 512 + RecoveryLetter.bodyByteCount
        case .ask: 1024 + RecoveryAsking.maximumRequestByteCount
        case .answers: 512 + RecoveryAsking.maximumRevealByteCount
        default: 512
        }
    }

    /// The longest answer, in bytes.
    public var maximumAnswerByteCount: Int {
        switch self {
        case .file, .askedFile: RecoveryFile.maximumByteCount
        case .letters, .answers: RecoveryLetterList.maximumByteCount
        case .commitment: RecoveryPromise.byteCount
        case .asked: 1024 + RecoveryAsking.maximumRequestByteCount + RecoveryReveal.byteCount
        case .ask: 4
        default: 1
        }
    }
}
