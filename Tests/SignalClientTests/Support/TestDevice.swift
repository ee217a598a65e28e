// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Foundation
import KeyTransparency
import PinnedHTTP
import STOMP
import SignalClient
import SignetAPI
import SignetClient
import SignetTesting

/// A person's device.
struct TestDevice: Sendable {
    let secrets: DeviceSecrets
    let device: CallDevice

    init(_ name: String) throws {
        try self.init(DeviceSecrets.generate(for: Handle(typed: Array(name.utf8)), withIdentity: true))
    }

    private init(_ secrets: DeviceSecrets) throws {
        self.secrets = secrets
        guard let device = CallDevice(secrets.keys.signing) else { throw NotMade() }
        self.device = device
    }

    struct NotMade: Error {}

    /// Registers with a directory.
    static func registered(_ name: String, at profile: DirectoryProfile) async throws -> TestDevice {
        try await member(name, at: profile).0
    }

    /// Registers with a directory, and keeps the client that did.
    static func member(_ name: String, at profile: DirectoryProfile) async throws -> (TestDevice, Client<InMemoryStore>)
    {
        let person = try TestDevice(name)
        let client = try person.directory(profile)
        _ = try await client.createAccount(person.secrets)
        return (person, client)
    }

    /// Registers people, all at once.
    static func members(
        _ names: [String], at profile: DirectoryProfile
    ) async throws -> [(TestDevice, Client<InMemoryStore>)] {
        try await withThrowingTaskGroup(of: (Int, TestDevice, Client<InMemoryStore>).self) { group in
            for (place, name) in names.enumerated() {
                group.addTask {
                    let (person, client) = try await member(name, at: profile)
                    return (place, person, client)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map { ($0.1, $0.2) }
        }
    }

    /// Another device of the same person, which they have added.
    func another(through client: Client<InMemoryStore>, at profile: DirectoryProfile) async throws -> TestDevice {
        let other = try TestDevice(DeviceSecrets.generate(for: secrets.handle, withIdentity: false))
        let card = try await other.directory(profile).deviceCard(other.secrets)
        _ = try await client.addDevice(card, by: secrets)
        return other
    }

    private func directory(_ profile: DirectoryProfile) throws -> Client<InMemoryStore> {
        try Client(
            of: profile, over: NIOTransport(to: profile), remembering: InMemoryStore(),
            owner: .init(handle: secrets.handle, deviceKey: secrets.keys.signing, identityKey: secrets.identityKey))
    }

    func endpoint(_ profile: DirectoryProfile) throws -> RelayEndpoint {
        try RelayEndpoint(of: profile, as: secrets)
    }

    func client(_ profile: DirectoryProfile, heartBeat: UInt64 = 5000) throws -> RelayClient {
        RelayClient(
            to: try endpoint(profile), heartBeat: heartBeat,
            backoff: .init(first: .milliseconds(10), longest: .milliseconds(200)))
    }

    /// A signal of this device; the number tells it from others.
    func signal(_ number: UInt64, in call: CallID, to recipient: CallDevice? = nil) throws -> Signal {
        try signal(.ack(Epoch(term: 1, generation: 1, step: 0)), number, in: call, to: recipient)
    }

    func signal(
        _ body: SignalBody, _ number: UInt64, in call: CallID, to recipient: CallDevice? = nil
    ) throws -> Signal {
        let content = Signal.Content(
            callID: call, sender: device, recipient: recipient, term: 1, sequence: number, sentAt: 1, body: body)
        return try Signal(signing: content, with: secrets.sign)
    }

    static func call() -> CallID {
        var generator = SystemRandomNumberGenerator()
        return CallID(using: &generator)
    }
}
