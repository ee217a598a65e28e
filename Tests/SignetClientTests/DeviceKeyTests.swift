// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetTesting
import Synchronization
import Testing

/// X-Wing keys of devices, which come beside a state once and are kept by hash.
@Suite struct DeviceKeyTests {
    /// Which lookups asked for keys, in order.
    private final class Asked: Sendable {
        private let all = Mutex<[Bool]>([])

        var wantedKeys: [Bool] { all.withLock { $0 } }

        func note(_ request: TransportRequest) {
            guard request.path == Route.lookup.path, let question = try? LookupRequest(decoding: request.body) else {
                return
            }
            all.withLock { $0.append(question.wantsKeys) }
        }
    }

    private func addedBob(
        _ directory: TestDirectory, _ store: InMemoryStore = InMemoryStore(),
        script: @escaping @Sendable (TransportRequest) -> ScriptedTransport.Act = { _ in .pass }
    ) async throws -> (bob: DeviceSecrets, client: Client<InMemoryStore>, asked: Asked) {
        let (_, bob) = try await directory.person("bob@example.org")
        try await store.remember(Person(handle: bob.handle, since: 0))
        let asked = Asked()
        let transport = ScriptedTransport(try NIOTransport(to: directory.profile)) { request, _ in
            asked.note(request)
            return script(request)
        }
        return (bob, try directory.client(nil, over: transport, remembering: store), asked)
    }

    private func kems(_ verdict: LookupVerdict) -> [[UInt8]?]? { verdict.keys?.devices.map(\.keys.kem) }

    @Test func deviceKeysAreFetchedOnTheFirstLookupOnly() async throws {
        try await TestDirectory.run { directory in
            let (bob, client, asked) = try await addedBob(directory)
            for _ in 0..<3 { #expect(try await kems(client.lookup(bob.handle).verdict) == [bob.keys.kem]) }
            #expect(asked.wantedKeys == [true, false, false])
            #expect(try await client.store.deviceKeys(of: bob.handle) == [bob.keys.hash: bob.keys.kem])
        }
    }

    @Test func aKeyInTheStoreThatIsNotTheListedOneIsAskedForAgain() async throws {
        try await TestDirectory.run { directory in
            let store = InMemoryStore()
            let (bob, client, asked) = try await addedBob(directory, store)
            let other = [UInt8](repeating: 1, count: DeviceKeys.kemByteCount)
            for keys in [[bob.keys.hash: other], [[1]: other]] {
                try await store.keep(deviceKeys: keys, of: bob.handle)
                #expect(try await kems(client.lookup(bob.handle).verdict) == [bob.keys.kem])
                #expect(try await store.deviceKeys(of: bob.handle) == [bob.keys.hash: bob.keys.kem])
            }
            #expect(asked.wantedKeys == [false, true, false, true])
        }
    }

    /// The attack: the directory shows a person's devices, and withholds the keys to write to them.
    @Test func aLookupWithoutTheDeviceKeysIsRefused() async throws {
        try await TestDirectory.run { directory in
            let (bob, _, _) = try await addedBob(directory)
            let withholding = WithholdingTransport(try NIOTransport(to: directory.profile))
            let store = InMemoryStore()
            try await store.remember(Person(handle: bob.handle, since: 0))
            let client = try directory.client(nil, over: withholding, remembering: store)
            await #expect(throws: ClientError.deviceKeysWithheld(bob.handle)) { try await client.lookup(bob.handle) }
            #expect(try await store.pinnedPeers().isEmpty)
        }
    }

    @Test func deviceKeysOfAStrangerAreNotKept() async throws {
        try await TestDirectory.run { directory in
            let (_, bob) = try await directory.person("bob@example.org")
            let client = try directory.client(nil)
            #expect(try await client.lookup(bob.handle).verdict.outcome == .stranger)
            #expect(try await client.store.deviceKeys(of: bob.handle).isEmpty)
        }
    }
}

/// A server that leaves the keys out whatever a lookup asks for.
private final class WithholdingTransport: HTTPTransport {
    private let inner: any HTTPTransport

    init(_ inner: any HTTPTransport) { self.inner = inner }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard request.path == Route.lookup.path, let question = try? LookupRequest(decoding: request.body) else {
            return try await inner.send(request)
        }
        let other = LookupRequest(
            handle: question.handle, knownSize: question.knownSize, knownCount: question.knownCount)
        return try await inner.send(
            TransportRequest(
                method: request.method, path: request.path, fields: request.fields, body: other.encoded,
                limit: request.limit))
    }
}
