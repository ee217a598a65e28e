// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogEngine

/// What durable appends cost beside the disk's own sync points.
///
///     append-bench [FOLDER]      FOLDER is made on the disk that is to be measured and removed at the end
@main struct AppendBench {
    static func main() async throws {
        let folder = CommandLine.arguments.dropFirst().first ?? "append-bench.tmp"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let bench = try await AppendCost(in: folder)
        try await bench.reportBatches()
        try await bench.reportManyCallers()
        try await bench.reportIdle()
        await bench.log.close()
    }
}
