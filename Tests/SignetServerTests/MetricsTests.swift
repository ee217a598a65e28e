// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Foundation
import KeyTransparency
import Logging
import Platform
import SignetAPI
import Synchronization
import Telemetry
import Testing
import TransparencyLog

@testable import SignetServer

/// What an operator can measure: the page has every family with an explanation, and each number follows what it
/// measures.
@Suite struct MetricsTests {
    private static let now: UInt64 = 1_800_000_000

    #if canImport(Glibc)
        private static let fileLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let fileLimit = RLIMIT_NOFILE
    #endif

    private static func log(
        alive: Bool = true, _ size: UInt64 = 9, _ published: UInt64 = 9, age: UInt64 = 10
    ) -> LogCondition {
        LogCondition(isAlive: alive, size: size, publishedSize: published, checkpointTime: now - age)
    }

    private func values(
        _ metrics: ServerMetrics, _ log: LogCondition = log(), _ readiness: Readiness = Readiness()
    ) throws -> [String: Double] {
        try PrometheusPage(metrics.text(log, readiness, at: Self.now)).values
    }

    private static func policy() throws -> Policy {
        func key(_ name: String, _ algorithm: VerifierKey.Algorithm) throws -> String {
            let key = try VerifierKey(
                name: KeyName(Array(name.utf8)), algorithm: algorithm,
                publicKey: TestPerson("a@example.org").keys.signing)
            return String(decoding: key.encoded, as: UTF8.self)
        }
        let lines = [
            "log \(try key("example.org/log", .ed25519))",
            "witness near \(try key("near.example/w", .cosignatureV1)) https://near.example",
            "witness far \(try key("far.example/w", .cosignatureV1)) https://far.example",
            "witness clock \(try key("example.org/clock", .cosignatureV1))", "quorum near",
        ]
        return try Policy(decoding: Array((lines.joined(separator: "\n") + "\n").utf8))
    }

    /// Everything that a server with witnesses measures.
    private static func page(_ data: DataDirectory) throws -> [UInt8] {
        let sources: [any MetricSource] = [
            ProcessSource(version: Release.version), StorageSource(data), WitnessProgress(try policy()),
        ]
        let metrics = ServerMetrics(sources: sources)
        metrics.answered(.lookup, 200, nanoseconds: 5_000_000)
        var readiness = Readiness()
        readiness.certificateEnd = { now + 90 * 86_400 }
        readiness.interval = 60
        return metrics.text(log(), readiness, at: now)
    }

    // MARK: The page

    @Test func thePageHasEveryFamilyWithItsExplanationAndNoOther() async throws {
        try await withDataDirectory { data in
            let page = try PrometheusPage(Self.page(data))
            // These are of a witness's server, `WitnessMonitoringTests`, and of an auditor, `AuditWatchTests`.
            let others: [MetricFamily] = [
                .cosignedEntries, .cosignedTime, .auditedEntries, .auditedAge, .auditedTime, .auditedFaults,
                .auditRounds,
                .auditTime,
            ]
            // And these are of a directory on shared engines, `SharedLogWatchTests`.
            let families = MetricFamily.allCases.filter {
                !others.contains($0) && !$0.rawValue.hasPrefix("signet_shared_log_")
            }
            #expect(Set(page.types.keys) == Set(families.map(\.rawValue)))
            #expect(page.helps == Set(page.types.keys))
            #expect(page.values["signet_build_info{version=\"\(Release.version)\"}"] == 1)
            #expect(page.types["process_cpu_seconds_total"] == "counter")
        }
    }

    @Test func theServerServesThePage() async throws {
        try await withServer({ $0.watchedFolder = "/" }) { client, _ in
            let answer = try #require(try await client.get(Route.metrics.path))
            let page = try PrometheusPage(answer.body)
            #expect(page.values["signet_log_alive"] == 1)
            #expect(page.values["signet_ready"] == 1)
            let end = try #require(page.values["signet_certificate_end_timestamp_seconds"])
            #expect(end > Double(TestPerson.now) + 389 * 86_400)
            #expect(page.values["signet_disk_free_bytes"] != nil && page.values["process_start_time_seconds"] != nil)
        }
    }

    @Test(.enabled(if: Promtool.file != nil, "promtool is not on the PATH: apt-get install prometheus"))
    func promtoolAcceptsThePage() async throws {
        try await withDataDirectory { data in
            let said = try await Promtool.check(Self.page(data))
            #expect(said.status == 0, "\(said.text)")
            #expect(said.text.isEmpty, "\(said.text)")
        }
    }

    @Test(arguments: [
        "a 1\n", "# TYPE a gauge\na 1\n", "# HELP a b\na 1\n", "# HELP a \n# TYPE a gauge\na 1\n",
        "# HELP a b\n# TYPE a meter\na 1\n", "# HELP a b\n# TYPE a gauge\nb 1\n", "# HELP a b\n# TYPE a gauge\na x\n",
        "# HELP a b\n# TYPE a gauge\na 1\na 1\n", "# HELP a b\n# TYPE a gauge\na 1",
        "# HELP a b\n# TYPE a counter\na 1\n", "# HELP a b\n# TYPE a gauge\na{b=\"\\x\"} 1\n",
        "# HELP a b\n# TYPE a gauge\na{b=\"1\"c=\"2\"} 1\n", "# HELP a b\n# TYPE a gauge\na{b=\"1\",b=\"2\"} 1\n",
        "# HELP a b\n# TYPE a gauge\na{1=\"1\"} 1\n", "# HELP a b\n# TYPE a gauge\na{b=\"1\",} 1\n",
        "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
        "# HELP a b\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n",
        "# HELP a b\n# TYPE a gauge\na 1\n# HELP a b\n# TYPE a gauge\n",
    ])
    func thePagesReaderIsStrict(text: String) {
        #expect(throws: PrometheusPage.Fault.self) { try PrometheusPage(text.utf8) }
    }

    // MARK: The numbers

    @Test func theLogsMetricsFollowTheLog() throws {
        let metrics = ServerMetrics()
        let before = try values(metrics, Self.log(7, 7 as UInt64, age: 3))
        let after = try values(metrics, Self.log(alive: false, 52, 49, age: 200))
        for (name, first, second) in [
            ("signet_log_entries", 7.0, 52.0), ("signet_log_published_entries", 7, 49),
            ("signet_log_checkpoint_age_seconds", 3, 200), ("signet_log_alive", 1, 0),
        ] {
            #expect(before[name] == first && after[name] == second, "\(name)")
        }
    }

    @Test func theReasonsNotToBeReadyAreInTheMetrics() throws {
        let metrics = ServerMetrics()
        let good = try values(metrics)
        #expect(good["signet_ready"] == 1)
        #expect(good["signet_certificate_end_timestamp_seconds"] == nil, "no certificate is known")
        var readiness = Readiness()
        readiness.interval = 60
        readiness.isDiskFull = { true }
        readiness.certificateEnd = { Self.now + 86_400 }
        readiness.isCertificateUsable = { false }
        readiness.arePinsNewest = { false }
        readiness.lostFiles = { ["recovery.sqlite"] }
        readiness.isUnprotected = { true }
        readiness.missingParts = { "away" }
        readiness.lockedDatabases = { ["signals.sqlite"] }
        readiness.clockFault = { .ahead(seconds: 5) }
        let bad = try values(metrics, Self.log(alive: false, age: 500), readiness)
        #expect(bad["signet_ready"] == 0)
        #expect(bad["signet_certificate_end_timestamp_seconds"] == Double(Self.now + 86_400))
        for reason in [
            "log_stopped", "nothing_published", "clock", "unprotected", "disk_reserve", "certificate_ends",
            "certificate_unusable", "pins_outdated", "files_lost", "database_locked", "parts_missing",
        ] {
            let name = "signet_not_ready{reason=\"\(reason)\"}"
            #expect(good[name] == 0 && bad[name] == 1, "\(name)")
        }
    }

    @Test func connectionsRequestsLimitsAndRegistrationsAreCounted() throws {
        let metrics = ServerMetrics()
        metrics.connectionOpened()
        metrics.connectionOpened()
        #expect(try values(metrics)["signet_connections_open"] == 2)
        metrics.connectionClosed()
        metrics.refused(.addressRate)
        metrics.registered()
        metrics.answered(.register, 409, nanoseconds: 0)
        let values = try values(metrics)
        #expect(values["signet_connections_open"] == 1 && values["signet_connections_total"] == 2)
        #expect(values["signet_refusals_total{limit=\"address_rate\"}"] == 1)
        #expect(values["signet_registrations_total"] == 1)
        #expect(values["signet_requests_total{route=\"register\",status=\"409\"}"] == 1)
        #expect(values["signet_request_seconds_count{route=\"register\"}"] == 1)
    }

    @Test func aWitnesssNewestCosignatureIsMeasured() throws {
        let progress = WitnessProgress(try Self.policy())
        let metrics = ServerMetrics(sources: [progress])
        let near = try #require(Policy.Name(Array("near".utf8)))
        let before = try values(metrics)
        #expect(before["signet_witness_cosigned_entries{witness=\"near\"}"] == 0)
        progress.cosigned(near, size: 12, at: 1000)
        progress.cosigned(near, size: 11, at: 2000)
        progress.cosigned(near, size: 12, at: 900)
        progress.cosigned(try #require(Policy.Name(Array("stranger".utf8))), size: 12, at: 1000)
        let after = try values(metrics)
        #expect(after["signet_witness_cosigned_entries{witness=\"near\"}"] == 12)
        #expect(after["signet_witness_cosigned_timestamp_seconds{witness=\"near\"}"] == 1000)
        #expect(after["signet_witness_cosigned_timestamp_seconds{witness=\"far\"}"] == 0)
        let witnesses = after.keys.filter { $0.hasPrefix("signet_witness") }
        #expect(witnesses.count == 4, "one without an address is not asked, and a stranger is not counted")
    }

    @Test func theSizesOfDatabasesAndTheirWriteAheadLogsAreMeasured() async throws {
        try await withDataDirectory { data in
            let metrics = ServerMetrics(sources: [StorageSource(data)])
            let before = try values(metrics)
            try FileManager.default.createDirectory(atPath: data.notes, withIntermediateDirectories: true)
            for (name, path) in [
                ("directory", data.records + "/directory.sqlite"), ("notes", data.notesDatabase),
                ("recovery", data.recovery), ("signals", data.signals),
            ] {
                try Data(count: 12_345).write(to: URL(filePath: path))
                try Data(count: 678).write(to: URL(filePath: path + "-wal"))
                let after = try values(metrics)
                let label = "{database=\"\(name)\"}"
                #expect(
                    before["signet_database_bytes" + label] != 12_345
                        && after["signet_database_bytes" + label] == 12_345)
                #expect(before["signet_database_wal_bytes" + label] != 678)
                #expect(after["signet_database_wal_bytes" + label] == 678)
            }
        }
    }

    @Test func theTimeOfTheNewestBackupIsMeasured() async throws {
        try await withDataDirectory { data in
            let metrics = ServerMetrics(sources: [StorageSource(data)])
            let mark = BackupMark(of: data)
            #expect(try values(metrics)["signet_backup_timestamp_seconds"] == 0, "none is known")
            try mark.write(1_700_000_000)
            #expect(try values(metrics)["signet_backup_timestamp_seconds"] == 1_700_000_000)
            try mark.write(1_600_000_000)
            #expect(mark.time == 1_700_000_000, "an older one that took longer does not take its place")
            try mark.write(1_800_000_000)
            #expect(try values(metrics)["signet_backup_timestamp_seconds"] == 1_800_000_000)
            #expect(FileStatus(of: data.path + "/backup.time")?.permissions == 0o600)
            try Data("soon\n".utf8).write(to: URL(filePath: data.path + "/backup.time"))
            #expect(try values(metrics)["signet_backup_timestamp_seconds"] == 0)
        }
    }

    @Test func ofSharedEnginesNoBackupIsMeasured() async throws {
        try await withDataDirectory { data in
            try Data().write(to: URL(filePath: data.engines))
            #expect(try values(ServerMetrics(sources: [StorageSource(data)]))["signet_backup_timestamp_seconds"] == nil)
        }
    }

    @Test func theFreeRoomAndTheReserveOfTheDiskAreMeasured() throws {
        let free = Mutex<UInt64>(5 << 30)
        let data = DataDirectory(path: "/nowhere")
        let source = StorageSource(data) { _ in .init(free: free.withLock { $0 }, total: 8 << 30) }
        let metrics = ServerMetrics(sources: [source])
        #expect(try values(metrics)["signet_disk_free_bytes"] == Double(5 << 30))
        free.withLock { $0 = 100 }
        #expect(try values(metrics)["signet_disk_free_bytes"] == 100)
        #expect(try values(metrics)["signet_disk_reserve_bytes"] == Double(256 << 20))
        let small = ServerMetrics(sources: [StorageSource(data) { _ in .init(free: 1, total: 800) }])
        #expect(try values(small)["signet_disk_reserve_bytes"] == 100)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/stat"), "there is no /proc"))
    func memoryFilesAndTimeOfTheProcessAreMeasured() throws {
        let metrics = ServerMetrics(sources: [ProcessSource(version: Release.version)])
        let before = try values(metrics)
        let files = try (0..<64).map { _ in try #require(FileHandle(forReadingAtPath: "/proc/self/stat")) }
        var memory = [UInt8](repeating: 1, count: 256 << 20)
        for place in stride(from: 0, to: memory.count, by: 4096) { memory[place] &+= UInt8(truncatingIfNeeded: place) }
        let after = try values(metrics)
        #expect(after["process_open_fds"] ?? 0 > before["process_open_fds"] ?? .infinity)
        #expect((after["process_resident_memory_bytes"] ?? 0) > (before["process_resident_memory_bytes"] ?? .infinity))
        #expect(after["process_cpu_seconds_total"] ?? 0 > before["process_cpu_seconds_total"] ?? .infinity)
        let start = try #require(after["process_start_time_seconds"])
        #expect(start == before["process_start_time_seconds"])
        #expect(start <= Double(TestPerson.now + 1) && start > Double(TestPerson.now) - 86_400)
        #expect(memory.count + files.count > 0)
        for file in files { try file.close() }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/stat"), "there is no /proc"))
    func theMaximumOfOpenFilesIsTheProcesssLimit() throws {
        var limit = rlimit()
        try #require(getrlimit(Self.fileLimit, &limit) == 0)
        defer { setrlimit(Self.fileLimit, &limit) }
        let metrics = ServerMetrics(sources: [ProcessSource(version: Release.version)])
        #expect(try values(metrics)["process_max_fds"] == Double(limit.rlim_cur))
        var lower = limit
        lower.rlim_cur -= 1
        try #require(setrlimit(Self.fileLimit, &lower) == 0)
        #expect(try values(metrics)["process_max_fds"] == Double(limit.rlim_cur - 1))
    }
}

/// Prometheus's own checker, where it is installed.
private enum Promtool {
    static let file: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { URL(filePath: String($0)).appending(component: "promtool") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    static func check(_ page: [UInt8]) async throws -> (status: Int32, text: String) {
        let place = FileManager.default.temporaryDirectory.appending(component: "signet-\(UUID().uuidString).metrics")
        try Data(page).write(to: place)
        defer { try? FileManager.default.removeItem(at: place) }
        let process = Process()
        process.executableURL = file
        process.arguments = ["check", "metrics"]
        process.standardInput = try FileHandle(forReadingFrom: place)
        let said = Pipe()
        (process.standardOutput, process.standardError) = (said, said)
        let (ends, report) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in report.finish() }
        try process.run()
        for await _ in ends {}
        let text = try said.fileHandleForReading.readToEnd() ?? Data()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
}
