// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import SignetClient
import SignetTesting
import Testing
import TransparencyLog

/// The newest entries are shown only of a log that extends the one that this client knows.
@Suite struct LogTailTests {
    private static func entries(_ count: Int, changing changed: Int? = nil) -> [[UInt8]] {
        (0..<count).map { [UInt8($0 / 256), UInt8($0 % 256), $0 == changed ? 1 : 0] }
    }

    @Test func aLogThatOnlyGrewAdvancesTheView() async throws {
        try await TestDirectory.run { directory in
            for sizes in [[1, 2, 3, 7, 256, 257, 700], [5, 512, 513, 700], [300, 300, 699, 700]] {
                let store = InMemoryStore()
                for size in sizes {
                    let copy = try LogCopy(Self.entries(size), keys: directory.keys)
                    let client = try directory.client(nil, over: copy, remembering: store)
                    #expect(try await client.logTail(3).entries.last?.index == UInt64(size - 1))
                    #expect(try await client.logView()?.head == copy.head)
                }
            }
        }
    }

    @Test(arguments: [(700, LogFault.inconsistent), (300, .fork), (299, .rollback)])
    func aForkedCopyIsRefusedAndKeptAsEvidence(_ size: Int, _ fault: LogFault) async throws {
        try await TestDirectory.run { directory in
            let store = InMemoryStore()
            let honest = try LogCopy(Self.entries(300), keys: directory.keys)
            _ = try await directory.client(nil, over: honest, remembering: store).logTail(1)
            let known = try #require(try await store.logView(origin: directory.keys.log.verifierKey.name.bytes))

            let forked = try LogCopy(Self.entries(size, changing: 100), keys: directory.keys)
            let client = try directory.client(nil, over: forked, remembering: store)
            let error = await #expect(throws: ClientError.self) { try await client.logTail(1) }
            guard case .log(.contradiction(let evidence)) = error else { throw Unexpected(error as Any) }
            #expect(LogFault(evidence.fault) == fault)
            #expect(evidence.known == known && evidence.received.head == forked.head)
            #expect(try await store.evidence() == [evidence])
            #expect(try await client.logView() == known)
        }
    }

    @Test func evidenceThatCannotBeStoredIsReported() async throws {
        try await TestDirectory.run { directory in
            let (_, bob) = try await directory.person("bob@example.org")
            let name = directory.keys.log.verifierKey.name
            let store = InMemoryStore()
            let head = TreeHead(size: 1, root: .leaf([1]))
            let view = LogView(uncheckedOrigin: name, head: head, note: [1])
            _ = try await store.advance(to: view, from: nil)
            let client = try directory.client(nil, remembering: store)

            await store.failNextWrite(.beforeWriting)
            let looked = await #expect(throws: ClientError.self) { try await client.lookup(bob.handle) }
            guard case .lookup(let refusal) = looked, case .consistency = refusal.error else {
                throw Unexpected(looked as Any)
            }
            #expect(refusal.evidenceNotKept == .noSpace)

            await store.failNextWrite(.beforeWriting)
            let read = await #expect(throws: ClientError.self) { try await client.logTail(1) }
            guard case .log(.contradictionNotKept(_, .noSpace)) = read else { throw Unexpected(read as Any) }
            #expect(try await store.evidence().isEmpty)

            let again = await #expect(throws: ClientError.self) { try await client.lookup(bob.handle) }
            guard case .lookup(let kept) = again else { throw Unexpected(again as Any) }
            #expect(kept.evidenceNotKept == nil)
            #expect(try await store.evidence().count == 1)
        }
    }
}

/// `LogContradiction.Fault` without its details.
enum LogFault: Sendable {
    case rollback, fork, inconsistent

    init(_ fault: LogContradiction.Fault) {
        self =
            switch fault {
            case .rollback: .rollback
            case .fork: .fork
            case .inconsistent: .inconsistent
            }
    }
}
