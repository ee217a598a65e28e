// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import PinnedHTTP
public import SignetAPI
import TransparencyLog

/// Why a client could not do what it was asked. ``family`` assigns the error to one of four families.
public enum ClientError: Error, Hashable, Sendable {
    /// There is no usable HTTP response.
    case transport(TransportError)
    /// The server refuses, with the time to wait in seconds if it said so.
    case refused(ErrorCode, retryAfter: UInt64?)
    /// Something before the directory answers, such as a proxy, which cannot reach it or takes no more requests for now: the HTTP status is
    /// 429, 502, 503 or 504, and the body is not the directory's. With the time to wait in seconds if it said so.
    case notReached(status: Int, retryAfter: UInt64?)
    /// An HTTP status that no route returns.
    case unexpectedStatus(Int)
    /// The body of a success cannot be read.
    case malformedAnswer(Route)
    /// The directory's answer to a lookup failed a check.
    case lookup(LookupRefusal)
    /// The directory's answer about a history failed a check.
    case history(HistoryRefusal)
    /// An answer to an eCall lookup fails the eCall guide's algorithm.
    case eCall(ECallError)
    /// The directory says, without proof, that the handle is not registered.
    case withheld(Handle)
    /// The directory proves an account but does not show the keys of its devices, whose hashes the state has.
    case deviceKeysWithheld(Handle)
    /// The handle is proved not to be registered.
    case notRegistered(VerifiedAbsence)
    /// The account is proved to be closed.
    case accountClosed(VerifiedClosure)
    /// The directory accepted a state of this account, but its log shows another one.
    case notWhatWasSent
    /// The log shows devices or an identity key in this account that this device knows nothing of.
    case ownAccountChanged(PeerKeyChange)
    /// A person's devices or identity differ from those that the user accepted.
    case peerChanged(Handle, PeerKeyChange)
    /// A new device's card cannot be used.
    case linkCard(LinkCardError)
    /// What the directory proves of a person does not match the contact card that they gave.
    case contactCard(ContactCardMismatch)
    /// What the directory shows as a person's friend request is not one of theirs.
    case friendRequest(Handle, FriendRequestError)
    /// The pages of the directory's list of friends are invalid.
    case friendList(FriendListError)
    /// A contact's checkpoint shows that the log has two histories. The evidence was kept.
    case forkMet(ForkEvidence)
    /// A peer's state contradicts what the directory proved before.
    case contradicted(PeerContradiction)
    /// The log's files are inconsistent with its checkpoint.
    case log(LogReadError)
    /// A change of the directory's keys does not verify.
    case succession(SuccessionError)
    /// What the directory says of its server's TLS keys cannot be accepted.
    case pins(DirectoryPinsError)
    /// After a handover, what the ended log showed of a person (nil for the log itself) does not match its end, or does not
    /// match the beginning of the next log.
    case former(Handle?, FormerFault)
    /// The directory has shown less than before for longer than one of several front ends may be behind: what it shows may have gone back.
    /// It has signed nothing smaller, so there is no evidence. The size that it showed, and when at the latest, in seconds since 1970.
    case showsLess(than: UInt64, since: UInt64)
    /// Other processes moved the stored view repeatedly.
    case viewKeepsMoving
    /// The store failed.
    case store(StoreError)
    /// The device's keys could not be used.
    case keystore(KeystoreError)
    /// A device card or challenge cannot be used.
    case submission(SubmissionError)
    /// A state cannot be built. This is a bug, because its parts were checked before.
    case account(AccountStateError)
    /// The request cannot be fulfilled as it stands.
    case misuse(ClientMisuse)

    /// The error family, which says who is at fault.
    public var family: ErrorFamily {
        switch self {
        case .transport(let error): error.family
        case .refused(let code, _): Self.family(of: code)
        case .unexpectedStatus, .malformedAnswer, .lookup, .history,
            .eCall, .withheld, .deviceKeysWithheld, .notWhatWasSent,
            .ownAccountChanged,
            .contradicted, .log, .succession, .pins, .former, .showsLess:
            .peer
        case .viewKeepsMoving, .notReached: .environment
        case .store(let error): error.family
        case .keystore(let error): error.family
        case .contactCard, .friendRequest, .friendList, .forkMet, .linkCard: .peer
        case .submission, .misuse, .notRegistered, .accountClosed, .peerChanged: .caller
        case .account: .bug
        }
    }

    /// The same error if the answer had to continue from the end of another log.
    var afterHandover: ClientError {
        guard case .lookup(let refusal) = self, case .history(let error) = refusal.error else { return self }
        return .former(refusal.handle, .notTakenOver(error))
    }

    /// Whether a front end of the directory has not come as far as others.
    var isBehind: Bool { if case .refused(.behind, _) = self { true } else { false } }

    /// The same error, unless a front end is said to be behind what the directory showed longer ago than that can be.
    ///
    /// - Parameters:
    ///   - known: what it showed.
    ///   - now: seconds since 1970.
    func judged(knowing known: LogView?, at now: UInt64) -> ClientError {
        guard isBehind, let known, let note = try? SignedNote(decoding: known.note), let shown = note.lastCosigned,
            now >= shown, now - shown > KnownSize.patience
        else { return self }
        return .showsLess(than: known.head.size, since: shown)
    }

    private static func family(of code: ErrorCode) -> ErrorFamily {
        switch code {
        case .tooManyRequests, .unavailable, .unwitnessed, .wrongTime, .notYet, .behind: .environment
        default: .caller
        }
    }
}

/// A request that cannot be fulfilled as it stands.
public enum ClientMisuse: Error, Hashable, Sendable {
    /// This device has no account.
    case noAccount
    /// The profile's policy must name exactly one log.
    case profileNeedsOneLog
    /// Not a raw Ed25519 key of a log, 32 bytes.
    case notALogKey
    /// This device does not hold the account's identity key.
    case identityKeyElsewhere
    /// The keys belong to another account.
    case anotherAccount(Handle)
    /// No device has this number.
    case noSuchDevice(UInt16)
    /// A device cannot revoke itself.
    case ownDevice
    /// The card's device is already in the account.
    case deviceAlreadyAdded(UInt16)
    /// An account has at most `AccountState.maximumDeviceCount` devices.
    case tooManyDevices
    /// All 65,535 device numbers have been used.
    case noDeviceNumberLeft
    /// A user cannot befriend themselves.
    case yourself
    /// The logged state is already the pinned one.
    case nothingToAccept
    /// This person has not asked to be a contact, as far as the directory says.
    case noRequest(Handle)
    /// The logged state is no longer the change that the user saw.
    case changeHasMoved
    /// Nothing is pinned for this person, so nothing can have changed.
    case nothingPinned
    /// This device has not asked to be added to an account, or the user has already confirmed the account.
    case nothingToConfirm
    /// This device has not been added to the account yet, or the user has not confirmed the account.
    case deviceNotAddedYet
}

/// An answer that failed a check, with the data needed to explain it.
public struct LookupRefusal: Error, Hashable, Sendable {
    /// The handle that the request was about.
    public let handle: Handle
    /// The check that failed, and how it failed.
    public let error: LookupError
    /// The body as received. Nothing in it may be trusted.
    public let response: [UInt8]
    /// The largest checkpoint known at that time.
    public let known: LogView?
    /// The time of the refusal, in seconds since 1970.
    public let time: UInt64
    /// Why the evidence of a contradiction could not be stored; nil if it was, or if there was none.
    public let evidenceNotKept: StoreError?
}
