// SPDX-License-Identifier: Apache-2.0

import CSyncs
import Foundation
import LogEngine
import Measuring

/// What durable appends cost beside the disk's own sync points: on a disk, and in memory, where each sync point only waits, about
/// a tenth of a millisecond. There is no file system of a disk in the second, whose own work for a new file can be more than all of ours.
///
///     append-bench [FOLDER]      FOLDER is made on the disk that is to be measured and removed at the end
@main struct AppendBench {
    static func main() async throws {
        let folder = CommandLine.arguments.dropFirst().first ?? "append-bench.tmp"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let bench = try await AppendCost(in: folder)
        try await bench.reportBatches("on this disk")
        try await bench.reportManyCallers()
        try await bench.reportIdle()
        await bench.log.close()
        try await measureInMemory()
    }

    private static func measureInMemory() async throws {
        let memory = "/dev/shm"
        guard FileManager.default.fileExists(atPath: memory) else {
            return Report.note("no \(memory), where sync points that only wait could be measured")
        }
        let folder = "\(memory)/append-bench.\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        sync_delay(60_000)
        let bench = try await AppendCost(in: folder)
        try await bench.reportBatches("in memory, with sync points that wait", isOwnTimeAGoal: true)
        await bench.log.close()
    }
}
