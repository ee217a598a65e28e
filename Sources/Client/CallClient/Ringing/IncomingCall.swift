// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
public import KeyTransparency
public import SignetClient

/// A call that rings at this device.
public struct IncomingCall: Hashable, Sendable {
    /// The ring as it was judged.
    public let ring: ScreenedRing
    /// Who calls.
    public let caller: Handle
    /// All people who may take part except this person, in order: those with whom the call is to be entered.
    public let people: [Handle]
    /// Whether the caller has other devices or another identity than was accepted: someone else may be calling in their
    /// name. The trust check before the call is entered asks.
    public let hasChanged: Bool
}

/// The outcome of the rings that reach a device.
public enum RingEvent: Hashable, Sendable {
    /// It rings.
    case ringing(IncomingCall)
    /// It rings no more: the caller's device says why.
    case stopped(IncomingCall, RingEnd.Reason)
    /// It rang too late to be heard: a missed call.
    case missed(Handle)
    /// It does not ring, for this device is in a call. The caller is to be told.
    case busy(Handle, ScreenedRing)
    /// A ring was refused; with the person in whose name it came, if this person has accepted them.
    case refused(RingRefusal, Handle?)
    /// The directory did not prove whose device rings.
    case unproven(Handle, ClientError)
    /// The directory contradicts what it proved of the caller before.
    case contradicted(Handle)
    /// The caller's device saw another log than this one did, and the evidence was kept. It does not ring.
    case forkMet(Handle)
}

/// What a device knows, and can find out, about who rings.
public struct RingPeople: Sendable {
    /// What a lookup now says about a person.
    package struct Found: Sendable {
        package let devices: Set<CallDevice>
        package let hasChanged: Bool

        package init(devices: Set<CallDevice>, hasChanged: Bool) {
            self.devices = devices
            self.hasChanged = hasChanged
        }
    }

    /// Why a lookup says nothing.
    package enum Failure: Error {
        case unproven(ClientError)
        case contradicted
    }

    /// The devices pinned for a person whom this person has added or accepted; nil for any other person.
    let accepted: @Sendable (Handle) async -> Set<CallDevice>?
    let find: @Sendable (Handle) async -> Result<Found, Failure>
    /// Compares the checkpoint that came with a ring.
    let meet: @Sendable ([UInt8]) async -> MetCheckpoint

    package init(
        accepted: @escaping @Sendable (Handle) async -> Set<CallDevice>?,
        find: @escaping @Sendable (Handle) async -> Result<Found, Failure>,
        meet: @escaping @Sendable ([UInt8]) async -> MetCheckpoint
    ) {
        self.accepted = accepted
        self.find = find
        self.meet = meet
    }
}

extension Client {
    /// The people of this client's user. People whom they have not added or accepted are not looked up.
    public var ringPeople: RingPeople {
        RingPeople { handle in
            let peer = (try? await knownPeople())?.first { $0.handle == handle }
            return peer.map { Set($0.devices.compactMap { CallDevice($0.signingKey) }) }
        } find: { handle in
            do throws(ClientError) {
                let verdict = try await lookup(handle).verdict
                if case .contradicted = verdict.outcome { return .failure(.contradicted) }
                let devices = Set(verdict.lookup.state.devices.compactMap { CallDevice($0.keys.signing) })
                return .success(RingPeople.Found(devices: devices, hasChanged: verdict.keys == nil))
            } catch { return .failure(.unproven(error)) }
        } meet: { bytes in
            (try? await self.meet(bytes)) ?? .noProof
        }
    }
}
