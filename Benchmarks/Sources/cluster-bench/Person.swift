// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetTesting
import TransparencyLog

/// Somebody with an account and two devices, who repeats what was not acknowledged, as the programs of Signet do.
struct Person {
    private let first: DeviceSecrets
    private let second: DeviceSecrets
    private let client: Client<InMemoryStore>

    init(_ handle: Handle, at profile: DirectoryProfile) throws {
        first = try DeviceSecrets.generate(for: handle, withIdentity: true)
        second = try DeviceSecrets.generate(for: handle, withIdentity: false)
        client = try Client(
            of: profile, over: NIOTransport(to: profile), remembering: InMemoryStore(),
            owner: .init(handle: handle, deviceKey: first.keys.signing, identityKey: first.identityKey))
    }

    /// - Returns: nil if it was refused for good, or the task was cancelled.
    func register() async -> Receipt? {
        await untilAcknowledged { () async throws(ClientError) -> LookupVerdict in
            try await client.createAccount(first)
        }
    }

    /// Adds a device.
    ///
    /// - Returns: nil if it was refused for good, or the task was cancelled.
    func change() async -> Receipt? {
        await untilAcknowledged { () async throws(ClientError) -> LookupVerdict in try await addDevice() }
    }

    private func addDevice() async throws(ClientError) -> LookupVerdict {
        do { return try await client.addDevice(try await client.deviceCard(second), by: first) } catch {
            // An attempt that was said to have failed had not.
            guard case .misuse(.deviceAlreadyAdded) = error else { throw error }
            return try await client.lookup(first.handle).verdict
        }
    }

    private func untilAcknowledged(_ step: () async throws(ClientError) -> LookupVerdict) async -> Receipt? {
        let start = ContinuousClock.now
        while !Task.isCancelled {
            do {
                let verdict = try await step()
                Lines.say(
                    "acknowledged \(verdict.handle) \(verdict.version) \(verdict.lookup.inclusion.index) \(start.age)")
                return Receipt(handle: verdict.handle, version: verdict.version, stateHash: verdict.stateHash)
            } catch {
                if Task.isCancelled { return nil }
                guard error.family == .environment else {
                    Lines.say("refused \(first.handle) \(error.briefly)")
                    return nil
                }
                Lines.say("again \(first.handle) \(error.briefly)")
                try? await Task.sleep(for: .milliseconds(250))
            }
        }
        return nil
    }
}

extension ClientError {
    /// On one short line.
    var briefly: String { String("\(self)".filter { !$0.isNewline }.prefix(200)) }
}
