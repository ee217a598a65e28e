// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import ObjectTesting
import SQLStores
import SharedLog
import Testing
import TransparencyLog

/// A log of 600 entries in frames of a hundred, each published with the cosignatures of three witnesses, that nobody leads.
private let template = Task {
    let fixture = try SharedLogFixture()
    try await fixture.engines.create(try fixture.configuration())
    for start in stride(from: 0, to: 600, by: 100) {
        let leader = try await BucketPlace.lead(fixture, fixture.engines, "t")
        _ = try await leader.append(SharedLogFixture.entries(start..<start + 100))
        _ = try await leader.awaitPublished(size: UInt64(start + 100))
        await leader.close()
    }
    var objects: [String: [UInt8]] = [:]
    for path in try await fixture.objects.list("") { objects[path] = try await fixture.objects.get(path)?.bytes }
    fixture.engines.database.close()
    return (fixture, objects)
}

/// A copy of that log, and a bucket in memory.
final class BucketPlace: Sendable {
    let fixture: SharedLogFixture
    let objects: MemoryObjects
    let engines: SharedLogEngines
    /// What the bucket has if it has everything.
    let whole: [String: [UInt8]]
    /// What was published at each size.
    let notes: [UInt64: PublishedCheckpoint]

    /// - Parameters:
    ///   - quorum: how many of three witnesses the clients' policy wants; nil: it has none.
    ///   - objects: empty.
    init(quorum: Int? = nil, objects: MemoryObjects = MemoryObjects()) async throws {
        let (original, whole) = try await template.value
        fixture = try SharedLogFixture(copyOf: original)
        (self.whole, self.objects) = (whole, objects)
        notes = Dictionary(original.published.map { ($0.head.size, $0) }) { $1 }
        engines = SharedLogEngines(
            database: fixture.engines.database, objects: objects, policy: try Self.policy(quorum),
            origin: fixture.engines.origin)
    }

    // MARK: Keys

    static func witnesses() throws -> [NoteSigner] {
        try (1...3).map { number in
            try NoteSigner(
                name: KeyName(Array("witness.example/w\(number)".utf8)), algorithm: .cosignatureV1,
                seed: [UInt8](repeating: UInt8(number), count: 32))
        }
    }

    static func name(_ number: Int) throws -> Policy.Name { try #require(Policy.Name(Array("w\(number)".utf8))) }

    private static func policy(_ quorum: Int?) throws -> Policy {
        let log = Policy.Log(key: try SharedLogFixture.signer().verifierKey)
        guard let quorum else { return try Policy(logs: [log], quorum: .none) }
        let group = try #require(Policy.Name(Array("all".utf8)))
        let names = try (1...3).map(name)
        return try Policy(
            logs: [log],
            witnesses: zip(names, try witnesses()).map {
                Policy.Witness(name: $0, key: $1.verifierKey, url: Array("https://w.example".utf8))
            }, groups: [.init(name: group, threshold: quorum, members: names)], quorum: .member(group))
    }

    /// - Parameter seed: of the log's key.
    static func configuration(of fixture: SharedLogFixture) throws -> LogConfiguration {
        var configuration = try fixture.configuration()
        configuration.cosigners = try witnesses()
        return configuration
    }

    static func lead(
        _ fixture: SharedLogFixture, _ engines: SharedLogEngines, _ name: String, others: [SeenHead] = []
    ) async throws -> DurableLog {
        try await LogCandidate(engines, holder: name, clock: SharedLogFixture.clock).lead(
            over: try fixture.link(), SharedLogFixture.facts, try configuration(of: fixture), others: { _ in others })
    }

    func lead(_ name: String = "later") async throws -> DurableLog { try await Self.lead(fixture, engines, name) }

    // MARK: The bucket

    /// Puts objects at these paths as they were.
    func fill(_ paths: some Sequence<String>) async throws {
        for path in paths { try await put(try #require(whole[path]), at: path) }
    }

    func put(_ bytes: [UInt8], at path: String) async throws {
        try await objects.remove(path)
        _ = try await objects.put(bytes, at: path, .ifAbsent)
    }

    func note(_ head: TreeHead) throws -> [UInt8] { try Self.configuration(of: fixture).sign(head).bytes }

    func contents() async throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for path in try await objects.list("") { contents[path] = try await objects.get(path)?.bytes }
        return contents
    }

    /// The database as a copy of then has it.
    func restore(_ size: UInt64) throws {
        try fixture.execute("DELETE FROM frames WHERE first >= ?", [Int64(size)])
        try unpublish(size)
        try fixture.execute("UPDATE log SET size = published_size, root = published_root")
    }

    /// The database of before a later head was published.
    func unpublish(_ size: UInt64) throws {
        let note = try #require(notes[size])
        try fixture.execute(
            "UPDATE log SET published_size = ?, published_root = ?, note = ?",
            [Int64(size), note.head.root.bytes, note.bytes])
    }

    // MARK: Making objects

    /// A request that writes over these.
    static func replacing(_ paths: String..., unconfirmed: Bool = true) -> ObjectsRequest {
        var request = ObjectsRequest()
        (request.replaced, request.acceptsUnconfirmed, request.retry) = (Set(paths), unconfirmed, .none)
        return request
    }

    func make(
        _ request: ObjectsRequest = replacing(), _ words: [Policy.Name: WitnessWord] = [:],
        configuration: LogConfiguration? = nil, link: (any SQLDatabase)? = nil
    ) async throws -> ObjectsReport {
        try await LogCandidate(engines, holder: "objects", clock: SharedLogFixture.clock).makeObjects(
            over: try link ?? fixture.link(), SharedLogFixture.facts, try configuration ?? fixture.configuration(),
            request
        ) { _ in words }
    }

    /// Why nothing was made. The bucket is as it was.
    func end(
        _ request: ObjectsRequest = replacing(), _ words: [Policy.Name: WitnessWord] = [:],
        configuration: LogConfiguration? = nil, link: (any SQLDatabase)? = nil
    ) async throws -> ObjectsRepairEnd? {
        let before = try await contents()
        do { _ = try await make(request, words, configuration: configuration, link: link) } catch {
            #expect(try await contents() == before)
            return try #require(error as? ObjectsRepairEnd)
        }
        return nil
    }

    /// The head in the second memory.
    func signed() async throws -> TreeHead? {
        guard let object = try await objects.get("signed") else { return nil }
        return try Checkpoint(decoding: SignedNote(decoding: object.bytes).text).head
    }
}
