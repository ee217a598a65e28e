// SPDX-License-Identifier: Apache-2.0

import KeyTransparency

/// JSON body of `POST /api/get-public-keys`: hashes of device keys, as friend routes return them, or
/// handles. Exactly one of the two.
///
/// Spec: eCall Key Transparency guide, "Friendship Establishment" and "Call Initiation".
public struct ECallRequest: Codable, Hashable, Sendable {
    /// Base64 of SHA-256 over the raw 32-byte key, at most ``maximumCount``.
    public let publicKeyHashs: [String]?
    /// Handles, at most ``maximumCount``.
    public let targets: [String]?

    /// The most hashes or handles in one request.
    public static let maximumCount = 64
    /// The maximum number of devices in one answer; a client that asks for more is told to ask for fewer people at
    /// once.
    public static let maximumEntryCount = 128

    /// As how many requests it counts: one for eight devices, as many as those asked for could have.
    public var cost: UInt64 {
        let devices = (publicKeyHashs?.count ?? 0) + (targets?.count ?? 0) * AccountState.maximumDeviceCount
        return UInt64(max(1, (min(devices, Self.maximumEntryCount) + 7) / 8))
    }

    /// A request by key hash or by handle.
    public init(publicKeyHashs: [String]? = nil, targets: [String]? = nil) {
        self.publicKeyHashs = publicKeyHashs
        self.targets = targets
    }
}

/// One device in the JSON answer of `POST /api/get-public-keys`.
public struct ECallEntry: Codable, Hashable, Sendable {
    /// Base64 of the 32-byte Ed25519 key.
    public let publicKey: String
    /// A tlog-proof without an `extra` line.
    public let proof: String
    /// Base64 of the 64-byte VRF hash.
    public let vrfHash: String

    /// One device's entry.
    public init(publicKey: String, proof: String, vrfHash: String) {
        self.publicKey = publicKey
        self.proof = proof
        self.vrfHash = vrfHash
    }
}

/// JSON body of the friend routes.
public struct FriendRequest: Codable, Hashable, Sendable {
    /// The other person.
    public let handle: String
    /// Base64 of the newest checkpoint that the sender has verified, as a `CheckpointCard`: so both find out whether they see one
    /// log. Absent where none belongs: in requests of the eCall client, and in questions.
    public let checkpoint: String?

    /// A request about a person.
    public init(handle: String, checkpoint: String? = nil) {
        self.handle = handle
        self.checkpoint = checkpoint
    }
}

/// JSON answer of the friend routes.
public struct FriendAnswer: Codable, Hashable, Sendable {
    /// The hashes of the other person's device keys, as ``ECallRequest`` takes them.
    public let publicKeyHashs: [String]

    /// An answer.
    public init(publicKeyHashs: [String]) { self.publicKeyHashs = publicKeyHashs }
}

/// How far a friendship is.
public enum FriendStatus: String, Codable, Hashable, Sendable {
    /// I asked.
    case requested
    /// They asked me.
    case invited
    /// Both want it.
    case accepted
}

/// JSON answer of `GET /v1/friends` and of `POST /v1/friends/after`: a page of the list.
public struct FriendList: Codable, Hashable, Sendable {
    /// One person in the list.
    public struct Entry: Codable, Hashable, Sendable {
        /// The other person.
        public let handle: String
        /// How far it is.
        public let status: FriendStatus

        /// One person.
        public init(handle: String, status: FriendStatus) {
            self.handle = handle
            self.status = status
        }
    }

    /// In order of the handles' bytes, at most ``maximumCount``.
    public let friends: [Entry]
    /// Whether people come behind these; absent for no.
    public let more: Bool?

    /// The most people on a page.
    public static let maximumCount = 4096

    /// A page.
    public init(friends: [Entry], more: Bool? = nil) {
        self.friends = friends
        self.more = more
    }
}

/// JSON body of every refusal.
public struct ErrorBody: Codable, Hashable, Sendable {
    /// What is wrong.
    public let error: ErrorCode

    /// A refusal.
    public init(_ error: ErrorCode) { self.error = error }
}

/// Why the server refuses, in one word that programs can act on.
public enum ErrorCode: String, Codable, Hashable, Sendable, CaseIterable {
    /// The body or a parameter is malformed.
    case badRequest = "bad_request"
    /// The body is too long.
    case tooLarge = "too_large"
    /// The request must be signed by a device of an account, and is not.
    case notSigned = "not_signed"
    /// The request's time differs too much from the server's.
    case wrongTime = "wrong_time"
    /// The step was signed longer ago than the server accepts; the same step is accepted when it is signed again.
    case stepTooOld = "step_too_old"
    /// A takeover that the witnesses would not show to have waited: contacts would take it for an attack. A retry helps.
    case notYet = "not_yet"
    /// The nonce was used before.
    case replayed = "replayed"
    /// The signing device does not belong to the account, or was revoked.
    case notYourAccount = "not_your_account"
    /// The operator suspended the account: its devices' requests are refused, except those that protect the account.
    case suspended = "suspended"
    /// The request has no invitation for the handle that is still good, and needs one; or it has one that is not good.
    case notInvited = "not_invited"
    /// The directory registers handles of this domain with a token of the operator's login system, and the request has none.
    case tokenNeeded = "token_needed"
    /// The token is not of that login system, or not for this handle, this device key and this directory, or its time is over.
    case tokenRefused = "token_refused"
    /// The directory has sent a code to the handle, a mail address: the same registration is taken with the code.
    case codeSent = "code_sent"
    /// The code is not the one that was sent for this handle and this device key, or its time is over.
    case codeRefused = "code_refused"
    /// The directory registers no handles of this domain, but by an invitation of the operator's.
    case domainClosed = "domain_closed"
    /// The handle was released, and waits for the holder of its invitation.
    case released
    /// The handle is registered to another identity.
    case handleTaken = "handle_taken"
    /// The state does not follow the one the directory has: look up, then try again.
    case versionConflict = "version_conflict"
    /// A device key is already in use.
    case keyInUse = "key_in_use"
    /// A device without a valid card.
    case possessionNotProven = "possession_not_proven"
    /// No such account, friend request, tile or route.
    case notFound = "not_found"
    /// Too many requests; `Retry-After` says when.
    case tooManyRequests = "too_many_requests"
    /// The server cannot do it now; a retry may help.
    case unavailable = "unavailable"
    /// One of several front ends, which does not show yet what the client says it knows; a retry may help. It is no evidence, and a client
    /// that hears it for long says so to its user (``KnownSize``).
    case behind = "behind"
    /// Stored, and to be published as soon as enough witnesses cosign; the same request later gets the receipt.
    case unwitnessed = "unwitnessed"
}
