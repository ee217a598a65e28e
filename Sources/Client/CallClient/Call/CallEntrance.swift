// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import KeyTransparency
public import PinnedHTTP
public import SignalClient
import SignetAPI
public import SignetClient

/// Why a call was not entered.
public enum CallEntryError: Error, Hashable, Sendable {
    /// The directory's address cannot be right.
    case address(TransportError)
    /// No way for signals: the relay refuses this device, or cannot be reached.
    case signals(RelayClientError)
    /// The directory refused a ticket for frames, or did not answer.
    case ticket(ClientError)
    /// The directory does not know of the call, or that this device is in it.
    case notInCall
    /// The directory relays no frames.
    case noRelay
    /// The media relay could not be reached.
    case frames(CallFramesError)
}

extension Client {
    /// Enters a call at the directory's relays, which learn of it that this device is in it. Takes part when ``GroupCall/start()``
    /// or ``GroupCall/join()`` is called.
    ///
    /// - Parameters:
    ///   - act: ``CallSignalling/CallAct/start(_:inviting:)`` or ``CallSignalling/CallAct/join(_:)``.
    ///   - people: whom the trust check has let through.
    /// - Throws: ``CallEntryError``.
    public func enter(
        _ act: CallAct, with people: CallPeople, by secrets: DeviceSecrets
    ) async throws(CallEntryError) -> GroupCall {
        try await enter(act, with: people, by: secrets, suffering: CallFaults())
    }

    /// The same with faults.
    package func enter(
        _ act: CallAct, with people: CallPeople, by secrets: DeviceSecrets,
        judging judge: RingJudge? = nil, suffering faults: CallFaults
    ) async throws(CallEntryError) -> GroupCall {
        guard let identity = CallIdentity(secrets) else { throw .ticket(.keystore(.keysDoNotFit)) }
        let relay: RelayEndpoint
        do { relay = try RelayEndpoint(of: profile, as: secrets, in: surroundings) } catch { throw .address(error) }
        let client = RelayClient(to: relay)
        let gossip = await callGossip()
        let signals: RelayedSignals
        do {
            signals = try await RelayedSignals(
                through: client, act, as: identity, judging: judge, telling: gossip.own)
        } catch {
            await client.close()
            throw .signals(error)
        }
        let frames: RelayedFrames
        do throws(CallEntryError) { frames = try await relayedFrames(act.callID, by: secrets) } catch {
            await signals.close()
            throw error
        }
        return GroupCall(
            act.callID, as: identity, with: people, signals: faults.afflict(signals),
            frames: faults.afflict(frames),
            gossip: gossip, check: PeopleCheck { await self.peopleStill($0) },
            otherRings: signals.otherRings)
    }

    private func relayedFrames(
        _ call: CallID, by secrets: DeviceSecrets
    ) async throws(CallEntryError) -> RelayedFrames {
        let admission = try await admission(call, by: secrets)
        do {
            return try await RelayedFrames.open(admission) { try? await self.admission(call, by: secrets) }
        } catch { throw .frames(error) }
    }

    private func admission(
        _ call: CallID, by secrets: DeviceSecrets
    ) async throws(CallEntryError) -> RelayedFrames.Admission {
        let answer: RelayAdmission?
        do throws(ClientError) {
            let bytes = try await self.call(CallRoute.relay, call.bytes, signedBy: secrets, mayRepeat: true)
            answer = try? RelayAdmission(decoding: bytes)
        } catch { throw .ticket(error) }
        switch answer {
        case .admitted(let port, let bytes, let ticket):
            guard let key = RelayKey(bytes) else { throw .noRelay }
            return RelayedFrames.Admission(host: host, port: Int(port), key: key, ticket: ticket)
        case .notInCall: throw .notInCall
        case .noRelay, nil: throw .noRelay
        }
    }

    private var host: String { (try? ServerAddress(profile.url))?.host ?? "" }
}
