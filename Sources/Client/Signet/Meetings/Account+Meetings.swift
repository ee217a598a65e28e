// SPDX-License-Identifier: Apache-2.0

import Crypto
public import KeyTransparency
public import Meeting
import MeetingClient
import SignetClient
import TransparencyLog

/// Meeting in person: two devices prove to each other, without the directory, whose they are, and each person types the words on the other's
/// screen.
extension Account {
    /// For how long an invitation is good, in seconds.
    public static let meetingSeconds: UInt64 = 180

    /// Makes an invitation and waits at a port of this machine for the device of whoever scans it.
    ///
    /// - Parameters:
    ///   - addresses: at most two of this machine's; none for those that it has.
    ///   - port: 0 for any free one.
    ///   - showsAddresses: whether the invitation has them; otherwise the other device finds this one by multicast, where the network passes that on.
    ///   - day: today by this device's clock, counted from 1970-01-01; nil for the day in UTC.
    ///   - seconds: for how long the invitation is good, at most 600.
    /// - Throws: ``SignetError``: `.meeting`; `.client(.misuse(.identityKeyElsewhere))` on a device that does not hold the identity.
    public func invite(
        at addresses: [MeetingAddress] = [], port: UInt16 = 0, showsAddresses: Bool = true, on day: UInt64? = nil,
        for seconds: UInt64 = Account.meetingSeconds
    ) async throws(SignetError) -> OpenInvitation {
        let side = try meetingSide(on: day)
        let listener: MeetingListener
        do throws(MeetingLinkError) { listener = try await MeetingListener(at: addresses, port: port) } catch {
            throw .meeting(.link(error))
        }
        let host = MeetingHost(
            at: showsAddresses ? listener.addresses : [], port: listener.port,
            key: Curve25519.KeyAgreement.PrivateKey(),
            randomness: surroundings.randomBytes(48), now: surroundings.now(), seconds: seconds)
        guard let host else { throw .meeting(.link(.noAddress)) }
        let responder = await MeetingResponder(MeetingAdvert(host.invitation, at: listener.addresses))
        return OpenInvitation(host, listener, responder, side)
    }

    /// Joins the person whose invitation was scanned.
    ///
    /// - Parameter day: today by this device's clock, counted from 1970-01-01; nil for the day in UTC.
    /// - Throws: ``SignetError``: `.meeting`; `.client(.misuse(.identityKeyElsewhere))` on a device that does not hold the identity.
    public func join(
        _ invitation: MeetingInvitation, on day: UInt64? = nil
    ) async throws(SignetError) -> UnconfirmedMeeting {
        let side = try meetingSide(on: day)
        let guest: MeetingGuest
        do throws(MeetingError) {
            guest = try MeetingGuest(
                to: invitation, key: Curve25519.KeyAgreement.PrivateKey(), number: surroundings.randomBytes(32),
                now: surroundings.now())
        } catch { throw .meeting(.check(error)) }
        return try await side.join(guest, invitation)
    }

    /// What this device keeps of its last meeting with a person, if they still have the identity key that they proved then.
    ///
    /// - Returns: nil if they did not meet on this device, if its record does not open, or if the person has another identity key now.
    /// - Throws: ``SignetError``: the store cannot be read.
    public func meetingRecord(of handle: Handle) async throws(SignetError) -> MeetingRecord? {
        let (sealed, keys): ([UInt8]?, [Handle: [UInt8]])
        do throws(ClientError) {
            sealed = try await home.client.meetingRecord(of: handle)
            keys = try await home.client.knownIdentityKeys()
        } catch { throw .client(error) }
        guard let sealed, let record = MeetingRecord(opening: sealed, with: handle, under: try meetingKey()),
            record.peerKey == keys[handle]
        else { return nil }
        return record
    }

    // MARK: Inside

    /// Under which this device seals its records of meetings: HKDF-SHA256 of the seed of its X-Wing key.
    func meetingKey() throws(SignetError) -> SymmetricKey {
        do {
            return try secrets.withAgreementKeys { _, kem in
                HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: SymmetricKey(data: kem.seedRepresentation),
                    info: Array("signet-meeting-records/v1".utf8), outputByteCount: 32)
            }
        } catch { throw .client(.keystore(error)) }
    }

    private func meetingSide(on day: UInt64?) throws(SignetError) -> MeetingSide {
        guard let identityKey = secrets.identityKey else { throw .client(.misuse(.identityKeyElsewhere)) }
        guard let origin = home.profile.trust.policy.logs.first?.name.bytes,
            let own = MeetingPerson(handle: handle, identityKey: identityKey, origin: origin)
        else { throw .client(.misuse(.profileNeedsOneLog)) }
        return MeetingSide(
            account: self, secrets: secrets, own: own, day: day ?? surroundings.now() / 86_400, key: try meetingKey())
    }

    /// Keeps a meeting that both people confirmed, whole or not at all.
    func keep(_ record: MeetingRecord, under key: SymmetricKey) async throws(SignetError) {
        let nonce = surroundings.randomBytes(MeetingRecord.nonceByteCount)
        guard let sealed = record.sealed(under: key, nonce: nonce) else { throw .client(.keystore(.keysDoNotFit)) }
        let comparison = Comparison(
            handle: record.peerHandle, identityKey: record.peerKey, kind: .meeting, time: surroundings.now(),
            metOn: record.day)
        known[record.peerHandle] = nil
        do throws(ClientError) {
            try await home.client.keep(KeptMeeting(comparison: comparison, record: sealed))
        } catch { throw .client(error) }
    }

    /// The identity keys that this device goes by.
    func identityKeysForMeeting() async throws(SignetError) -> [Handle: [UInt8]] {
        do throws(ClientError) { return try await home.client.knownIdentityKeys() } catch { throw .client(error) }
    }

    /// The largest tree of the log that this device has verified.
    func treeForMeeting() async throws(SignetError) -> MeetingRecord.KnownTree? {
        do throws(ClientError) {
            guard let head = try await home.client.logView()?.head else { return nil }
            return MeetingRecord.KnownTree(size: head.size, root: head.root.bytes)
        } catch { throw .client(error) }
    }

    /// Whether the directory's proof of this person's identity key is on this device.
    func isPinned(_ handle: Handle) async throws(SignetError) -> Bool {
        do { return try await home.client.store.pinnedPeer(handle) != nil } catch { throw .client(.store(error)) }
    }
}
