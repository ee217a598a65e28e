import CallSignalling
import Foundation
import KeyTransparency
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
        secrets = try DeviceSecrets.generate(for: Handle(typed: Array(name.utf8)), withIdentity: true)
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
        let client = try Client(
            of: profile, over: NIOTransport(to: profile), remembering: InMemoryStore(),
            owner: .init(
                handle: person.secrets.handle, deviceKey: person.secrets.keys.signing,
                identityKey: person.secrets.identityKey))
        _ = try await client.createAccount(person.secrets)
        return (person, client)
    }

    func endpoint(_ profile: DirectoryProfile) throws -> RelayEndpoint {
        try RelayEndpoint(of: profile, as: secrets)
    }

    func client(_ profile: DirectoryProfile) throws -> RelayClient {
        RelayClient(to: try endpoint(profile), backoff: .init(first: .milliseconds(10), longest: .milliseconds(200)))
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
