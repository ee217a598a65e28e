// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import Crypto
public import KeyTransparency
public import SignetClient

/// A person who may take part in a call, on one of their devices.
public struct CallPerson: Hashable, Sendable {
    /// Who.
    public let handle: Handle
    /// The owner's running number for the device.
    public let deviceNumber: UInt16
}

/// The devices of the people with whom a call is to be, every key of them from a verified lookup that agrees with what was
/// pinned. Only `Client/peopleForCall(_:)` makes one.
///
/// Security: a device that is not listed here is not admitted, not believed, and not sent anything.
public struct CallPeople: Sendable {
    private struct Entry {
        let person: CallPerson
        let identityKey: [UInt8]
        let agreementKey: P256.KeyAgreement.PublicKey
    }

    private let entries: [CallDevice: Entry]
    /// This device, which is none of ``devices``, and the identity key of its account.
    private let own: (device: CallDevice, identityKey: [UInt8])?

    package init(
        _ devices: [(handle: Handle, identityKey: [UInt8], record: DeviceRecord)],
        own: (device: CallDevice, identityKey: [UInt8])?
    ) {
        let entries = devices.compactMap { handle, identityKey, record in
            CallDevice(record.keys.signing).flatMap { device in
                (try? P256.KeyAgreement.PublicKey(compressedRepresentation: record.keys.agreement)).map {
                    let person = CallPerson(handle: handle, deviceNumber: record.number)
                    return (device, Entry(person: person, identityKey: identityKey, agreementKey: $0))
                }
            }
        }
        self.init(entries: Dictionary(entries) { first, _ in first }, own: own)
    }

    private init(entries: [CallDevice: Entry], own: (device: CallDevice, identityKey: [UInt8])?) {
        self.entries = entries
        self.own = own
    }

    /// All of their devices.
    public var devices: Set<CallDevice> { Set(entries.keys) }

    /// Whose device it is; nil if it belongs to no participant.
    public subscript(device: CallDevice) -> CallPerson? { entries[device]?.person }

    /// All people, each once.
    var handles: [Handle] { Set(entries.values.map(\.person.handle)).sorted { $0.description < $1.description } }

    /// Those of a person's devices for which this holds, and all devices of the others.
    private func keeping(of handle: Handle, _ isKept: (CallDevice) -> Bool) -> CallPeople {
        CallPeople(entries: entries.filter { $0.value.person.handle != handle || isKept($0.key) }, own: own)
    }

    /// What is left of these after a later lookup of one of them: devices that are the same as before. No device is
    /// added; if the directory now says something about a person that the user has not accepted, only devices that were
    /// here before remain.
    func remaining(of handle: Handle, after outcome: TrustOutcome) -> CallPeople {
        switch outcome {
        case .matched(let keys), .firstPinned(let keys), .accepted(let keys):
            let devices = Set(keys.devices.compactMap { CallDevice($0.keys.signing) })
            return keeping(of: handle) { devices.contains($0) }
        case .changed(let change):
            let gone = Set((change.removed.map(\.signingKey) + change.rekeyed.map(\.keys.signing)))
            return keeping(of: handle) { !change.identityKeyChanged && !gone.contains($0.signingKey) }
        case .stranger, .contradicted: return keeping(of: handle) { _ in false }
        }
    }

    /// The identity key that vouches for a device, this one's own too; nil if it belongs to no participant.
    func identityKey(of device: CallDevice) -> [UInt8]? {
        device == own?.device ? own?.identityKey : entries[device]?.identityKey
    }

    func agreementKey(of device: CallDevice) -> P256.KeyAgreement.PublicKey? { entries[device]?.agreementKey }
}

/// Why a person cannot be called.
public enum CallTrustError: Error, Hashable, Sendable {
    /// The directory's answer was refused, or did not come.
    case lookup(Handle, ClientError)
    /// Their keys have changed since they were accepted. The user looks at the change, accepts it or not, and calls again.
    case changed(Handle)
    /// The user has not chosen this person; nothing is pinned to compare with.
    case stranger(Handle)
    /// What the directory proves now contradicts what it proved before. Accepting is not offered.
    case contradicted(Handle)
}

extension Client {
    /// The trust check before a call: looks up each person and the user's own account, verifies the answers, and compares
    /// them with what is pinned. The user's other devices belong to the call as well.
    ///
    /// Spec: eCall Key Transparency guide, "Call Initiation (Trust Overrides)".
    ///
    /// - Throws: ``CallTrustError``, about the first person whose check fails. Only lookups were sent: no one was told of a call.
    public func peopleForCall(_ handles: [Handle]) async throws(CallTrustError) -> CallPeople {
        var devices: [(handle: Handle, identityKey: [UInt8], record: DeviceRecord)] = []
        for handle in handles + [owner?.handle].compactMap(\.self) {
            let keys = try await verifiedKeys(of: handle)
            for record in keys.devices { devices.append((handle, keys.identityKey, record)) }
        }
        let own = devices.first { $0.record.keys.signing == owner?.deviceKey }
            .flatMap { own in CallDevice(own.record.keys.signing).map { ($0, own.identityKey) } }
        return CallPeople(devices.filter { $0.record.keys.signing != owner?.deviceKey }, own: own)
    }

    /// The same people without the devices that were revoked or replaced since: every person is looked up again. A
    /// person whose answer does not come stays as they were.
    func peopleStill(_ people: CallPeople) async -> CallPeople {
        var people = people
        for handle in people.handles {
            guard let outcome = try? await lookup(handle).verdict.outcome else { continue }
            people = people.remaining(of: handle, after: outcome)
        }
        return people
    }

    private func verifiedKeys(of handle: Handle) async throws(CallTrustError) -> PeerKeys {
        let verdict: LookupVerdict
        do { verdict = try await lookup(handle).verdict } catch { throw .lookup(handle, error) }
        switch verdict.outcome {
        case .matched(let keys), .firstPinned(let keys), .accepted(let keys): return keys
        case .changed: throw .changed(handle)
        case .stranger: throw .stranger(handle)
        case .contradicted: throw .contradicted(handle)
        }
    }
}
