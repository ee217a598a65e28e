// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogEngine
import LogFencing
import Measuring
import PostgresStores
import SQLStores
import SharedLog
import SignetServer
import TransparencyLog

/// The leader of a shared log without an index: each append is acknowledged when the database's quorum has it. What is durable goes to the
/// object store, is signed and published beside it, as in a sequencer.
struct FrameBench: Sendable {
    private static let entryByteCount = 134
    private let log: DurableLog

    init(folder: String, database: String, objects: String, bucket: String) async throws {
        let name = try KeyName(Array("bench.example/frames".utf8))
        let signer = try NoteSigner(name: name, algorithm: .ed25519, seed: [UInt8](repeating: 7, count: 32))
        let file = try EnginesFile(
            database: database, objects: objects, bucket: bucket, prefix: "frames/", region: nil, authority: nil)
        let engines = try await SharedEngines.connect(file, DataDirectory(path: folder))
        let shared = SharedLogEngines(
            database: try engines.database(SharedLogTables.schema), objects: engines.objects,
            policy: try Policy(logs: [.init(key: signer.verifierKey)], quorum: .none), origin: name)
        var configuration = LogConfiguration(signer: signer, clock: { UInt64(Date().timeIntervalSince1970) })
        configuration.onFatal = { failure in
            FileHandle.standardError.write(Data("shared-bench: the log has failed: \(failure)\n".utf8))
            exit(1)
        }
        try await shared.create(configuration)
        let link = try PostgresLink(
            to: PostgresAddress(database), schema: SharedLogTables.schema.name, patience: .seconds(30))
        let facts = try await link.facts()
        let demands = DatabaseDemands(
            systemIdentifier: facts.systemIdentifier, timeline: facts.timeline, database: facts.database)
        let start = ContinuousClock.now
        log = try await LogCandidate(shared, holder: "bench") { ContinuousClock.now - start }.lead(
            over: PostgresLeaderLink(link), (facts, demands), configuration)
    }

    /// Lines: `batches COUNT`, of 256 entries, one after the other; `callers COUNT EACH`, each with one entry at a time.
    ///
    /// - Returns: entries a second; microseconds of processor time for one; frames.
    func answer(_ words: [Substring]) async throws -> [Double] {
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch (words.first, numbers.count) {
        case ("batches", 1):
            return try await measure((0..<numbers[0]).map { _ in [Self.entries(256)] }, count: numbers[0] * 256) {
                for groups in $0 { for entries in groups { _ = try await log.append(entries) } }
            }
        case ("callers", 2):
            let drawn = (0..<numbers[0]).map { _ in (0..<numbers[1]).map { _ in Self.entries(1) } }
            return try await measure(drawn, count: numbers[0] * numbers[1]) { drawn in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for own in drawn {
                        group.addTask { [log] in for entries in own { _ = try await log.append(entries) } }
                    }
                    try await group.waitForAll()
                }
            }
        default: throw Usage()
        }
    }

    private func measure(
        _ drawn: [[[[UInt8]]]], count: Int, _ work: @Sendable ([[[[UInt8]]]]) async throws -> Void
    ) async throws -> [Double] {
        let frames = log.statistics.commits
        let start = (wallTime(), processTime())
        try await work(drawn)
        let (wall, processor) = (wallTime() - start.0, processTime() - start.1)
        return [
            Double(count) / wall * 1e9, processor / Double(count) / 1e3, Double(log.statistics.commits - frames),
        ]
    }

    /// Entries without a pattern that a database could compress: those of a directory are hashes.
    private static func entries(_ count: Int) -> [[UInt8]] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in
            (0..<entryByteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
    }
}
