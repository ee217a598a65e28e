// SPDX-License-Identifier: Apache-2.0

import CSyncs
import Foundation
import LogEngine
import Measuring
import TransparencyLog

/// Appends to a real log, interleaved with bare writes to the same disk.
struct AppendCost {
    let log: DurableLog
    private let disk: BareDisk
    private static let batch = 256
    private static let entryByteCount = 134

    init(in folder: String) async throws {
        disk = try BareDisk(at: folder + "/bare")
        let name = try KeyName(Array("bench.example/log".utf8))
        let clockName = try KeyName(Array("bench.example/log/clock".utf8))
        let seed = [UInt8](repeating: 1, count: 32)
        let configuration = LogConfiguration(
            signer: try NoteSigner(name: name, algorithm: .ed25519, seed: seed),
            cosigners: [try NoteSigner(name: clockName, algorithm: .cosignatureV1, seed: seed)],
            clock: { UInt64(Date().timeIntervalSince1970) })
        let path = folder + "/log"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try await DurableLog.create(at: path, configuration)
        log = try await DurableLog.open(at: path, configuration)
    }

    /// Batches one after the other, beside the same bytes with 8 sync points and with one. The processor time is that of every thread
    /// of the process, in the kernel too, without what drawing the entries and the bare writes take.
    func reportBatches(_ place: String, isOwnTimeAGoal: Bool = false) async throws {
        let bytes = [UInt8](repeating: 0x42, count: Self.batch * (Self.entryByteCount + 2))
        var ours: [Double] = []
        var eight: [Double] = []
        var one: [Double] = []
        var own: [Double] = []
        var syncs = 0.0
        let (rounds, batches) = (times(20), 20)
        for _ in 0..<rounds {
            let begun = (process: processTime(), thread: threadTime())
            let drawn = (0..<batches).map { _ in Self.entries(Self.batch) }
            var others = threadTime() - begun.thread
            let before = sync_count()
            let start = wallTime()
            for entries in drawn { _ = try await log.append(entries) }
            ours.append(Double(batches * Self.batch) / (wallTime() - start) * 1e9)
            syncs += Double(sync_count() - before)
            let bare = threadTime()
            eight.append(try rate(batches) { try disk.write(bytes, syncPoints: 8) } * Double(Self.batch))
            one.append(try rate(batches * 4) { try disk.write([UInt8](bytes.prefix(4096)), syncPoints: 1) })
            others += threadTime() - bare
            own.append((processTime() - begun.process - others) / Double(batches * Self.batch) / 1e3)
        }
        Report.title("Durable appends \(place), batches of \(Self.batch), one after the other")
        Report.note("Tessera: not measured; no program of it can be had from the system's package manager")
        Report.line("entries, median round", median(ours), "/s")
        Report.line("entries with 8 sync points a batch, median round", median(eight), "/s")
        Report.line("fdatasync after 4 KiB there, median round", 1e6 / median(one), "µs")
        Report.line("processor time of our own an entry, fastest round", own.min() ?? .nan, "µs")
        if isOwnTimeAGoal {
            Report.goal("the same, median round, µs", median(own), atMost: 1.8)
        } else {
            Report.line("the same, median round", median(own), "µs")
        }
        Report.line("syncs a batch, checkpoints included", syncs / Double(rounds * batches), "")
        Report.goal(
            "entries ÷ entries with 8 sync points, median of rounds",
            median(zip(ours, eight).map { $0 / $1 }),
            atLeast: 3)
        Report.line("entries/s ÷ fdatasyncs/s, median of rounds", median(zip(ours, one).map { $0 / $1 }), "")
    }

    /// Many callers with one entry each: they share the sync points.
    func reportManyCallers() async throws {
        let (callers, each) = (Self.batch, times(40))
        let drawn = (0..<callers).map { _ in (0..<each).map { _ in Self.entries(1) } }
        let before = sync_count()
        let start = wallTime()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for own in drawn {
                group.addTask { [log] in for entries in own { _ = try await log.append(entries) } }
            }
            try await group.waitForAll()
        }
        Report.title("Durable appends, \(callers) callers, one entry each time")
        Report.line("entries", Double(callers * each) / (wallTime() - start) * 1e9, "/s")
        Report.line(
            "entries a sync, checkpoints included", Double(callers * each) / Double(sync_count() - before), ""
        )
    }

    /// One entry at a time, each published before the next.
    func reportIdle() async throws {
        let count = times(200)
        var times: [Double] = []
        _ = try await log.awaitPublished(size: log.published.head.size)
        let before = sync_count()
        for _ in 0..<count {
            let start = wallTime()
            let range = try await log.append(Self.entries(1))
            _ = try await log.awaitPublished(size: range.upperBound)
            times.append(wallTime() - start)
        }
        Report.title("Idle: one entry, added and published")
        Report.line("time, median", median(times) / 1e6, "ms")
        Report.goal("syncs", Double(sync_count() - before) / Double(count), atMost: 3)
    }

    private func rate(_ count: Int, _ work: () throws -> Void) rethrows -> Double {
        let start = wallTime()
        for _ in 0..<count { try work() }
        return Double(count) / (wallTime() - start) * 1e9
    }

    private static func entries(_ count: Int) -> [[UInt8]] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in
            var entry = [UInt8](repeating: 0x41, count: entryByteCount)
            withUnsafeBytes(of: generator.next()) { entry.replaceSubrange(0..<8, with: $0) }
            return entry
        }
    }
}
