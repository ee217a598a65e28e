// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import KeyTransparency
public import SignetAPI
import TransparencyLog

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a person's device signed when the person asked the user to be a friend, or agreed. Only ``FriendRequestVerifier`` makes
/// one.
struct VerifiedFriendRequest: Hashable, Sendable {
    /// The newest checkpoint that the person had verified, as they claim: an encoded card, not verified.
    let checkpoint: [UInt8]
    /// When the person signed, in seconds since 1970 by their clock.
    let time: UInt64
}

/// Judges a signed friend request that the directory passes on.
///
/// The directory can show an earlier request of the same two people, but nothing else: the contents of a request are under the
/// signature of a device that the log lists for the person who asked.
struct FriendRequestVerifier {
    /// The person who is said to have asked, as the log shows them now.
    let lookup: VerifiedLookup
    /// The handle of the person whom they are to have asked.
    let own: Handle
    /// The directory's log, and the logs that ended before it: requests remain valid across a handover.
    let origins: [[UInt8]]

    /// Runs the checks, in order.
    ///
    /// - Throws: ``FriendRequestError`` for the first check that fails.
    func verify(_ request: SignedFriendRequest) throws(FriendRequestError) -> VerifiedFriendRequest {
        try checkDevice(request.signature)
        try checkSignature(request)
        let body = try checkPerson(request.body)
        return VerifiedFriendRequest(checkpoint: try checkpoint(in: body), time: request.signature.time)
    }

    private func checkDevice(_ signature: RequestSignature) throws(FriendRequestError) {
        guard lookup.state.devices.contains(where: { $0.keys.signing == signature.deviceKey }) else {
            throw .anotherDevice
        }
    }

    private func checkSignature(_ request: SignedFriendRequest) throws(FriendRequestError) {
        guard origins.contains(where: request.isSigned) else { throw .invalidSignature }
    }

    private func checkPerson(_ body: [UInt8]) throws(FriendRequestError) -> FriendRequest {
        guard let request = try? JSONDecoder().decode(FriendRequest.self, from: Data(body)) else { throw .malformed }
        guard request.handle == own.description else { throw .forAnother }
        return request
    }

    private func checkpoint(in body: FriendRequest) throws(FriendRequestError) -> [UInt8] {
        guard let text = body.checkpoint, let card = try? Base64.decode(Array(text.utf8)) else {
            throw .noCheckpoint
        }
        return card
    }
}

/// Why a friend request is not accepted as one of the person in whose name the directory shows it. Either the directory
/// misbehaved, or the person asked with an earlier version of the program; only a new request helps.
public enum FriendRequestError: Error, Hashable, Sendable {
    /// The directory says that the person asked, but shows nothing that they signed.
    case withheld
    /// What the directory shows cannot be read.
    case malformed
    /// The request is signed by a device that is not one of the person's devices now.
    case anotherDevice
    /// The named device did not sign it.
    case invalidSignature
    /// The person asked someone else.
    case forAnother
    /// The request contains no checkpoint.
    case noCheckpoint
}

extension Client {
    /// Requires the request or agreement that a person signed, and compares the checkpoint in it with the user's own log.
    ///
    /// - Throws: ``ClientError``: ``ClientError/friendRequest(_:_:)``, and ``ClientError/forkMet(_:)`` if the directory showed
    ///   the person another log; the evidence is kept.
    @discardableResult
    public func meetRequest(
        of handle: Handle, by secrets: DeviceSecrets
    ) async throws(ClientError) -> MetFriendRequest {
        let request = try await signedRequest(of: handle, by: secrets)
        let lookup = try await verifiedLookup(handle).lookup
        let former = try await stored { () throws(StoreError) in try await store.formerLogs() }
        let verifier = FriendRequestVerifier(
            lookup: lookup, own: secrets.handle, origins: [origin.bytes] + former.map(\.origin.bytes))
        let verified: VerifiedFriendRequest
        do { verified = try verifier.verify(request) } catch { throw .friendRequest(handle, error) }
        let met = try await meet(verified.checkpoint)
        if case .fork(let fork) = met { throw .forkMet(fork) }
        if met != .notCompared {
            try await stored { () throws(StoreError) in try await store.rememberMet(handle) }
        }
        return MetFriendRequest(handle: handle, time: verified.time, met: met)
    }

    /// Compares the checkpoints of friends who agreed since the last time, at most ``maximumMeetingCount`` of them.
    ///
    /// - Returns: the result for each person; ``ClientError/forkMet(_:)`` among the errors is an alarm.
    /// - Throws: ``ClientError/store(_:)``.
    public func meetFriends(
        _ friends: [(Handle, FriendStatus)], by secrets: DeviceSecrets
    ) async throws(ClientError) -> [Handle: Result<MetFriendRequest, ClientError>] {
        let met = try await stored { () throws(StoreError) in try await store.metFriends() }
        let new = friends.filter { $0.1 == .accepted && !met.contains($0.0) }.prefix(Self.maximumMeetingCount)
        var results: [Handle: Result<MetFriendRequest, ClientError>] = [:]
        for (handle, _) in new {
            do throws(ClientError) { results[handle] = .success(try await meetRequest(of: handle, by: secrets)) } catch
            {
                results[handle] = .failure(error)
            }
        }
        return results
    }

    /// The most checkpoints compared at once, so that a long list does not cause a long wait.
    public static var maximumMeetingCount: Int { 16 }

    private func signedRequest(
        of handle: Handle, by secrets: DeviceSecrets
    ) async throws(ClientError) -> SignedFriendRequest {
        guard let bytes = try await calls.signedFriendRequest(of: handle, by: secrets) else {
            // Only a directory that says that the person asked, or agreed, withholds something.
            let isListed = try await friends(of: secrets).contains { $0.0 == handle && $0.1 != .requested }
            throw isListed ? .friendRequest(handle, .withheld) : .misuse(.noRequest(handle))
        }
        do { return try SignedFriendRequest(decoding: bytes) } catch { throw .friendRequest(handle, .malformed) }
    }

    /// This device's newest checkpoint, after a lookup of the person to be asked if there was none.
    func checkpointToSend(to handle: Handle) async throws(ClientError) -> [UInt8] {
        if let card = try await card() { return card.encoded }
        _ = try await verifiedAnswer(handle)
        return try await card()?.encoded ?? []
    }
}

/// The result for a person's friend request.
public struct MetFriendRequest: Hashable, Sendable {
    /// The person who asked or agreed.
    public let handle: Handle
    /// When the person signed it, in seconds since 1970 by their clock.
    public let time: UInt64
    /// The result for the checkpoint in it; never a fork.
    public let met: MetCheckpoint
}
