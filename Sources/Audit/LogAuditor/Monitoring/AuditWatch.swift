// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
import SignetAPI
import Synchronization
import Telemetry
public import TransparencyLog

/// Looks at what a log publishes, again and again, and remembers how that went, for those who operate the auditor.
public final class AuditWatch: Sendable {
    private struct Seen: Sendable {
        var looks = AuditLooks()
        var soundAt: UInt64?
    }

    private let auditor: Auditor
    private let folder: AuditFolder
    private let log: String
    private let patience: UInt64
    private let clock: @Sendable () -> UInt64
    private let uptime: @Sendable () -> UInt64
    private let process = ProcessSource(version: Release.version)
    private let seen = Mutex(Seen())

    /// A watch over an auditor.
    ///
    /// - Parameters:
    ///   - policy: that of the auditor; its first log gives the name in the metrics.
    ///   - folder: that of the auditor.
    ///   - patience: for how many seconds looks may fail before `/ready` says so.
    ///   - clock: seconds since 1970.
    ///   - uptime: nanoseconds of a clock that never runs back.
    public init(
        _ auditor: Auditor, of policy: Policy, keeping folder: AuditFolder, patience: UInt64 = 600,
        clock: @escaping @Sendable () -> UInt64, uptime: @escaping @Sendable () -> UInt64
    ) {
        self.auditor = auditor
        self.folder = folder
        self.patience = patience
        self.clock = clock
        self.uptime = uptime
        log = policy.logs.first.map { String(decoding: $0.name.bytes, as: UTF8.self) } ?? ""
    }

    /// Audits what the log publishes.
    ///
    /// - Returns: the checkpoint, which is sound.
    /// - Throws: ``AuditorError``, as ``Auditor/auditPublished()`` does.
    @discardableResult
    public func look() async throws(AuditorError) -> LogSignedCheckpoint {
        let start = uptime()
        do throws(AuditorError) {
            let sound = try await auditor.auditPublished()
            ended(.sound, since: start)
            return sound
        } catch {
            ended(.init(error), since: start)
            throw error
        }
    }

    private func ended(_ result: AuditLooks.Result, since start: UInt64) {
        let (now, end) = (clock(), uptime())
        seen.withLock { seen in
            seen.looks.add(result, nanoseconds: end > start ? end - start : 0)
            if result == .sound { seen.soundAt = now }
        }
    }

    /// How the audit is now.
    func condition() async -> AuditCondition {
        let seen = seen.withLock { $0 }
        var condition = AuditCondition()
        condition.log = log
        condition.size = await auditor.audited?.checkpoint.head.size
        condition.epochTime = await auditor.lastEpochTime
        condition.isGuilty = await auditor.isLogGuilty
        condition.evidenceCount = folder.evidenceNames().count
        condition.soundAt = seen.soundAt
        condition.patience = patience
        condition.room = folder.room
        condition.looks = seen.looks
        return condition
    }

    /// The answer to a request for `/health`, `/ready` or `/metrics`.
    func page(_ request: PlainRequest) async -> CosignerAnswer {
        guard ["/health", "/ready", "/metrics"].contains(request.path) else { return .notFound }
        guard request.method == .GET else { return .wrongMethod("GET") }
        if request.path == "/health" { return CosignerAnswer(status: 200, body: Array("ok\n".utf8)) }
        let condition = await condition()
        if request.path == "/ready" { return condition.readiness(at: clock()) }
        let page = PrometheusText.print(condition.samples(at: clock()) + process.samples())
        return CosignerAnswer(status: 200, mediaType: PrometheusText.mediaType, body: page)
    }
}

/// Where operators of an auditor see `/health`, `/ready` and `/metrics`, over plain HTTP, without a password.
public final class AuditPages: Sendable {
    private let server: PlainHTTPServer

    /// The port that it listens at.
    public var port: Int { server.port }

    /// Listens. Requests are answered until ``stop()``.
    ///
    /// - Parameters:
    ///   - host: an address of a network of the operator's own.
    ///   - port: 0 for any free one.
    /// - Throws: ``CosignerServerError``.
    public init(_ watch: AuditWatch, host: String, port: Int) async throws(CosignerServerError) {
        var limits = CosignerLimits()
        (limits.connections, limits.connectionsPerAddress) = (64, 64)
        server = try await PlainHTTPServer(host: host, port: port, limits: limits) { await watch.page($0) }
    }

    /// Stops listening.
    public func stop() async { await server.stop() }
}
