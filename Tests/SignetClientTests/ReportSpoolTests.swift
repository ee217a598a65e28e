// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import SignetClient
import Testing

@Suite struct ReportSpoolTests {
    private static func report(_ time: UInt64, chain: UInt8 = 0, host: String = "a.example") throws -> ViolationReport {
        ViolationReport(
            time: time, host: try ServerName(host.utf8), port: 443, rule: nil, wasRefused: true,
            servedChain: [[chain]], validatedChain: [], proxy: .none, policyVersion: 1)
    }

    private func with(_ body: (ReportSpool, DurableFile) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let file = DurableFile(path: folder + "/pin-reports")
            try body(ReportSpool(file), file)
        }
    }

    @Test func aReportIsKeptOnceADayForEachHostAndChain() async throws {
        try await with { spool, _ in
            let day = ReportSpool.interval
            let kept = try [
                spool.add(Self.report(1000)), spool.add(Self.report(1000 + day - 1)),
                spool.add(Self.report(1001, chain: 1)), spool.add(Self.report(1002, host: "b.example")),
                spool.add(Self.report(1000 + day)),
            ]
            #expect(kept == [true, false, true, true, true])
            let entries = try spool.entries()
            let first = try Self.report(1000).json
            #expect(entries.map(\.time) == [1000, 1001, 1002, 1000 + day])
            #expect(entries[0].json == first)
        }
    }

    @Test func theOldestReportsAreDroppedFirst() async throws {
        try await with { spool, _ in
            for number in 0..<103 { try spool.add(Self.report(UInt64(number), chain: UInt8(number))) }
            #expect(try spool.entries().map(\.time) == Array(3..<103))
            try spool.clear()
            #expect(try spool.entries().isEmpty)
        }
    }

    @Test func aDamagedLineIsSkipped() async throws {
        try await with { spool, file in
            try spool.add(Self.report(1))
            try file.replace(with: Array("nonsense\n".utf8) + file.read(maximumByteCount: 100_000))
            #expect(try spool.entries().count == 1)
            #expect(try spool.add(Self.report(2, chain: 1)))
        }
    }
}
