// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import KeyDirectory
import KeyTransparency
import LogEngine
import Logging
import Measuring
import PaperDirectory
import TransparencyLog
import VRF

/// A data directory whose log was filled without keys and signatures of people, which no start reads.
struct FilledDirectory {
    /// So many steps wait at once: at most so many labels share an epoch.
    private static let waiting: UInt64 = 2048

    let path: String
    private let logger: Logger

    init(path: String) {
        self.path = path
        var logger = Logger(label: "start-bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .notice
        self.logger = logger
    }

    func fill(_ labels: UInt64) async throws {
        let keys = try Self.keys()
        try await Directory.create(at: path, keys: keys, clock: Self.now, logger: logger)
        let directory = try await open(keys)
        let last = try await Self.append(labels, to: directory.log, waiting: Self.waiting)
        // The last frame ends in an epoch record.
        let size = last + 1
        _ = try await directory.log.awaitPublished(size: size)
        await directory.close()
        try remember(size)
    }

    /// Appends a step of each of so many labels.
    ///
    /// - Parameter waiting: so many wait at once.
    /// - Returns: the size of the log with the last of them, without the record of its epoch.
    static func append(_ labels: UInt64, to log: DurableLog, waiting: UInt64) async throws -> UInt64 {
        try await withThrowingTaskGroup(of: UInt64.self) { group in
            for worker in 1...waiting {
                group.addTask {
                    var end: UInt64 = 0
                    for number in stride(from: worker, through: labels, by: Int(waiting)) {
                        end = try await log.append(step(of: number)).upperBound
                    }
                    return end
                }
            }
            return try await group.reduce(0, max)
        }
    }

    func reportStart() async throws {
        let before = Resident.now
        let (wall, processor) = (wallTime(), processTime())
        let directory = try await open(Self.keys())
        let (wallEnd, processorEnd) = (wallTime(), processTime())
        let after = Resident.now
        let size = directory.log.statistics.durableSize
        let snapshot = directory.snapshotSize.map { "a snapshot of the first \($0)" } ?? "no snapshot"
        Report.title("Start with \(size / 2) labels, a log of \(size) entries, \(snapshot)")
        if size >= 2_000_000, directory.snapshotSize != nil {
            Report.goal("start, seconds", (wallEnd - wall) / 1e9, atMost: 5)
            Report.goal("resident, MB", after.bytes / 1e6, atMost: 400)
        } else {
            Report.line("start", (wallEnd - wall) / 1e9, "s")
            Report.line("resident", after.bytes / 1e6, "MB")
        }
        Report.line("processor time of all threads", (processorEnd - processor) / 1e9, "s")
        Report.line("resident, above the program before the start", (after.bytes - before.bytes) / 1e6, "MB")
        Report.line("resident, the most during the start", after.peak / 1e6, "MB")
        await directory.close()
    }

    private func open(_ keys: DirectoryKeys) async throws -> Directory {
        try await Directory.open(at: path, keys: keys, clock: Self.now, logger: logger)
    }

    /// As if every entry had been compared with the database before.
    private func remember(_ size: UInt64) throws {
        try DatabaseQueue(path: "\(path)/directory.sqlite").write { database in
            try database.execute(sql: "UPDATE meta SET checked_size = ?", arguments: [Int64(clamping: size)])
        }
    }

    private static func step(of number: UInt64) throws -> [[UInt8]] {
        let label = try OtherPeople.label(number)
        guard let leaf = DeviceLeaf(label: label, publicKey: Array(label.bytes.prefix(32))),
            let commitment = StateCommitment(Array(label.bytes.suffix(32)))
        else { throw BenchFault.notInTheIndex }
        let record = StateRecord(label: LabelIndex(label), version: 1, kind: .set, commitment: commitment)
        return [leaf.entry, record.entry]
    }

    /// The same in every run; a directory that only measurements open needs no secrets.
    static func keys() throws -> DirectoryKeys {
        let name = try KeyName(Array("bench.example/log".utf8))
        let seed = [UInt8](repeating: 7, count: 32)
        return DirectoryKeys(
            log: try NoteSigner(name: name, algorithm: .ed25519, seed: seed),
            cosigners: [
                try NoteSigner(name: DirectoryKeys.clockName(of: name), algorithm: .cosignatureV1, seed: seed)
            ], vrf: try VRFPrivateKey(seed))
    }

    static func now() -> UInt64 { UInt64(Date().timeIntervalSince1970) }
}
