public import KeyTransparency
public import PinnedHTTP
public import SignetAPI

/// Why a client could not do what it was asked. The four families are ``family``.
public enum ClientError: Error, Hashable, Sendable {
    /// No usable HTTP response.
    case transport(TransportError)
    /// The server refuses, with the time to wait in seconds if it said so.
    case refused(ErrorCode, retryAfter: UInt64?)
    /// An HTTP status that no route gives.
    case unexpectedStatus(Int)
    /// The body of a success cannot be read.
    case malformedAnswer(Route)
    /// The directory's answer to a lookup failed a check.
    case lookup(LookupRefusal)
    /// The directory's answer about a history failed a check.
    case history(HistoryRefusal)
    /// An answer to an eCall lookup fails the eCall guide's algorithm.
    case eCall(ECallError)
    /// The directory says without proof that nobody has registered the handle.
    case withheld(Handle)
    /// The directory proves an account and does not show the keys of its devices, of which the state has the hashes.
    case deviceKeysWithheld(Handle)
    /// Nobody has registered the handle: proved.
    case notRegistered(VerifiedAbsence)
    /// The account was closed: proved.
    case accountClosed(VerifiedClosure)
    /// The directory accepted a state of this account, and its log shows another one.
    case notWhatWasSent
    /// The log shows devices or an identity key in this account that this device knows nothing of.
    case ownAccountChanged(PeerKeyChange)
    /// Somebody's devices or identity are not those that the user accepted.
    case peerChanged(Handle, PeerKeyChange)
    /// A new device's card cannot be used.
    case linkCard(LinkCardError)
    /// What the directory proves of somebody does not fit the contact card that they gave.
    case contactCard(ContactCardMismatch)
    /// What the directory shows as somebody's friend request is none of theirs.
    case friendRequest(Handle, FriendRequestError)
    /// The pages of the directory's list of friends are no list.
    case friendList(FriendListError)
    /// A contact's checkpoint shows that the log has two histories. The evidence was kept.
    case forkMet(ForkEvidence)
    /// A peer's state contradicts what the directory proved before.
    case contradicted(PeerContradiction)
    /// The log's files do not add up to its checkpoint.
    case log(LogReadError)
    /// A change of the directory's keys does not hold.
    case succession(SuccessionError)
    /// What the directory says of its server's TLS keys is not to be used.
    case pins(DirectoryPinsError)
    /// After a handover: what the log that ended showed of somebody, nil for the log itself, is not how it ended, or not
    /// how the next one begins.
    case former(Handle?, FormerFault)
    /// Other processes moved the stored view again and again.
    case viewKeepsMoving
    /// The store.
    case store(StoreError)
    /// The device's keys.
    case keystore(KeystoreError)
    /// A device card or challenge cannot be used.
    case submission(SubmissionError)
    /// A state cannot be built; a bug, for its parts were checked before.
    case account(AccountStateError)
    /// The request makes no sense as it stands.
    case misuse(ClientMisuse)

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .transport(let error): error.family
        case .refused(let code, _): Self.family(of: code)
        case .unexpectedStatus, .malformedAnswer, .lookup, .history,
            .eCall, .withheld, .deviceKeysWithheld, .notWhatWasSent,
            .ownAccountChanged,
            .contradicted, .log, .succession, .pins, .former:
            .peer
        case .viewKeepsMoving: .environment
        case .store(let error): error.family
        case .keystore(let error): error.family
        case .contactCard, .friendRequest, .friendList, .forkMet, .linkCard: .peer
        case .submission, .misuse, .notRegistered, .accountClosed, .peerChanged: .caller
        case .account: .bug
        }
    }

    /// The same when the answer had to go on from the end of another log.
    var afterHandover: ClientError {
        guard case .lookup(let refusal) = self, case .history(let error) = refusal.error else { return self }
        return .former(refusal.handle, .notTakenOver(error))
    }

    private static func family(of code: ErrorCode) -> ErrorFamily {
        switch code {
        case .tooManyRequests, .unavailable, .unwitnessed, .wrongTime, .notYet: .environment
        default: .caller
        }
    }
}

/// A request that makes no sense as it stands.
public enum ClientMisuse: Error, Hashable, Sendable {
    /// There is no account on this device.
    case noAccount
    /// The profile's policy must name exactly one log.
    case profileNeedsOneLog
    /// Not a raw Ed25519 key of a log, 32 bytes.
    case notALogKey
    /// This device does not hold the account's identity key.
    case identityKeyElsewhere
    /// The keys are those of another account.
    case anotherAccount(Handle)
    /// No device has this number.
    case noSuchDevice(UInt16)
    /// A device does not revoke itself.
    case ownDevice
    /// The card's device is in the account already.
    case deviceAlreadyAdded(UInt16)
    /// An account has at most `AccountState.maximumDeviceCount` devices.
    case tooManyDevices
    /// All 65,535 device numbers were given.
    case noDeviceNumberLeft
    /// Nobody befriends themselves.
    case yourself
    /// What is logged is what is pinned.
    case nothingToAccept
    /// What is logged now is not the change that the user saw.
    case changeHasMoved
    /// Nothing is pinned for this person, so nothing can have changed.
    case nothingPinned
    /// This device has not asked to be added to an account, or its person has confirmed the account.
    case nothingToConfirm
    /// This device has not been added to the account yet, or its person has not confirmed the account.
    case deviceNotAddedYet
}

/// An answer that failed a check, with what is needed to explain it.
public struct LookupRefusal: Error, Hashable, Sendable {
    /// Whom the question was about.
    public let handle: Handle
    /// Which check failed, and how.
    public let error: LookupError
    /// The body as received. Nothing in it is to be believed.
    public let response: [UInt8]
    /// The largest checkpoint known at that time.
    public let known: LogView?
    /// When, in seconds since 1970.
    public let time: UInt64
    /// Why the evidence of a contradiction could not be kept; nil when it was, or there was none.
    public let evidenceNotKept: StoreError?
}
