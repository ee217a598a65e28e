// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import HTTPTypes
import LogEngine
import Telemetry

/// Whether a server will go on as it should, or an operator has to act.
struct Readiness: Sendable {
    /// What an operator has to attend to.
    enum Fault: Hashable, Sendable {
        /// It was told to stop, and soon takes no more connections.
        case stopping
        /// The log has failed.
        case logStopped
        /// No checkpoint was published for this many seconds: too few witnesses cosign, or the second memory is
        /// unreachable.
        case nothingPublished(seconds: UInt64)
        /// The log's last epoch is so many seconds in the future: clients refuse it until then, or this machine's clock is behind.
        case epochAhead(seconds: UInt64)
        /// This machine's clock is wrong, or those of its witnesses are.
        case clock(ClockFault)
        /// This process has not seen for this many seconds what is published.
        case behind(seconds: UInt64)
        /// The database asks no standby to acknowledge a commit, so nothing is accepted.
        case unprotected
        /// This process leads, and has not opened the parts that log something, for this reason.
        case partsMissing(String)
        /// The free space on the disk is no more than the directory's reserve.
        case diskReserve
        /// The certificate expires in less than ``Readiness/certificateDays`` days; this many are left.
        case certificateEnds(days: UInt64)
        /// The certificate has expired.
        case certificateEnded
        /// The certificate in the files is not valid yet by this machine's clock.
        case certificateEarly
        /// Clients refuse the certificate in the files, or the files cannot be used, such as after a renewal with another key. What was read
        /// before, if anything, is in use until the next start.
        case certificateUnusable
        /// The log shows newer pins than the files have, or others, or the files have none: clients are shown none, and refuse a key that is not
        /// among the log's.
        case pinsOutdated
        /// Files that the server has open were removed or replaced under it: what it writes is gone when it ends.
        case filesLost([String])
        /// Another process keeps these databases locked, so that nothing is written to them.
        case databasesLocked([String])
        /// Files that the next start needs were removed under the running server.
        case filesMissing([String])

        /// The label of the fault in the metrics.
        var reason: Reason {
            switch self {
            case .stopping: .stopping
            case .logStopped: .logStopped
            case .nothingPublished: .nothingPublished
            case .epochAhead, .clock: .clock
            case .behind: .behind
            case .unprotected: .unprotected
            case .partsMissing: .partsMissing
            case .diskReserve: .diskReserve
            case .certificateEnds, .certificateEnded: .certificateEnds
            case .certificateEarly, .certificateUnusable: .certificateUnusable
            case .pinsOutdated: .pinsOutdated
            case .filesLost, .filesMissing: .filesLost
            case .databasesLocked: .databaseLocked
            }
        }

        /// Whether a file is one of those that SQLite keeps beside a database, and moves into it as the database is closed.
        static func isBesideDatabase(_ name: String) -> Bool { name.hasSuffix("-wal") || name.hasSuffix("-shm") }

        /// The line about the fault in the answer of `/ready`.
        var text: String {
            switch self {
            case .stopping: "the server was told to stop"
            case .logStopped: "the log has stopped"
            case .nothingPublished(let seconds): "no checkpoint was published for \(seconds) seconds"
            case .epochAhead(let seconds):
                "the log's last epoch is \(seconds) seconds in the future, so clients refuse it; or this machine's clock is behind"
            case .clock(.ahead(let seconds)):
                "this machine's clock is \(seconds) seconds ahead of the time that has passed, or that a quorum of the witnesses names, and the log does not follow it; compare it with another source of time, and set it if it is wrong"
            case .clock(.behind(let seconds)):
                "this machine's clock is \(seconds) seconds behind the time that a quorum of the witnesses names, so that nothing is published; compare it with another source of time, and set it if it is wrong"
            case .clock(.disputed(let clocks)):
                "too few witnesses cosign, because the clocks of some are not at this machine's time (\(clocks.map(\.text).joined(separator: ", "))); no quorum of them says that this machine's is wrong: compare it with another source of time before you set it, and tell their operators"
            case .clock(.unnamed(let seconds)):
                "no quorum of the witnesses has named the time since the start, so the log's times are \(seconds) seconds behind this machine's clock, and a witness refuses to cosign, as an auditor does where the log's last epoch is old; if this machine's clock is right, restart the server once with --accept-clock"
            case .behind(let seconds): "what is published has not been seen for \(seconds) seconds"
            case .unprotected:
                "the database asks no standby to acknowledge a commit (synchronous_standby_names), so nothing is accepted"
            case .partsMissing(let reason):
                "this process leads, and logs neither pins nor notes nor the keys of cards until it can: \(reason)"
            case .diskReserve: "only the reserve for the directory is left on the disk"
            case .certificateEnds(let days):
                "the certificate expires in \(days == 0 ? "less than a day" : "\(days) days")"
            case .certificateEnded: "the certificate has expired"
            case .certificateEarly:
                "the certificate in the files is not valid yet by this machine's clock: set the clock if it is behind"
            case .certificateUnusable: "clients refuse the certificate in the files, or its files cannot be used"
            case .pinsOutdated:
                "tls/pins is missing or cannot be used, or the log shows other or newer pins: clients are shown none, and refuse this server if its key is not among the log's; copy or restore directory.signet and the folder tls"
            case .filesLost(let names) where names.allSatisfy(Self.isBesideDatabase):
                "removed or replaced under the running server: \(names.joined(separator: ", ")); an orderly stop (SIGTERM) loses nothing, if nothing is copied over them, and a kill loses what only a lost -wal had: see disasters.md"
            case .filesLost(let names):
                "removed or replaced under the running server: \(names.joined(separator: ", ")); what it writes there is lost when it stops: do not stop it, see disasters.md"
            case .databasesLocked(let names):
                "locked by another process: \(names.joined(separator: ", ")); nothing can be written there until it ends its transaction, or is ended: fuser and lsof name it"
            case .filesMissing(let names):
                "removed under the running server: \(names.joined(separator: ", ")); the next start needs what was there: put it back from a backup before the server stops"
            }
        }
    }

    /// The kinds of ``Fault``. The raw value is the label in the metrics.
    enum Reason: String, CaseIterable, Sendable {
        case stopping
        case logStopped = "log_stopped"
        case nothingPublished = "nothing_published"
        case clock
        case behind
        case unprotected
        case partsMissing = "parts_missing"
        case diskReserve = "disk_reserve"
        case certificateEnds = "certificate_ends"
        case certificateUnusable = "certificate_unusable"
        case pinsOutdated = "pins_outdated"
        case filesLost = "files_lost"
        case databaseLocked = "database_locked"
    }

    /// How long before its end a certificate should be renewed.
    static let certificateDays: UInt64 = 14
    /// A process that has not seen for longer what is published is not ready, in seconds.
    static let unseenSeconds: UInt64 = 5
    /// So many seconds a client lets a log be ahead of its clock.
    static let clockSkew: UInt64 = 300
    /// Fewer missing checkpoints in a row may be a passing delay.
    static let missedCheckpoints: UInt64 = 3

    /// How often a checkpoint is published, in seconds; nil if unknown.
    var interval: UInt64?
    /// What is wrong with this machine's clock.
    var clockFault: @Sendable () -> ClockFault? = { nil }
    /// For how long this process has not seen what is published.
    var lag: @Sendable () -> Duration = { .zero }
    /// Whether the server was told to stop.
    var isStopping: @Sendable () -> Bool = { false }
    /// What an operator is told beside that, and what is no reason to leave this process out.
    var remarks: @Sendable () -> [String] = { [] }
    /// Whether the database would lose with one machine what it acknowledges.
    var isUnprotected: @Sendable () -> Bool = { false }
    /// Why this process leads without the parts that log something; nil: it does not.
    var missingParts: @Sendable () -> String? = { nil }
    /// Whether the disk's reserve is reached.
    var isDiskFull: @Sendable () -> Bool = { false }
    /// When the certificate ends, in seconds since 1970; nil if unknown.
    var certificateEnd: @Sendable () -> UInt64? = { nil }
    /// Whether the next start can serve with the files of key and certificate.
    var isCertificateUsable: @Sendable () -> Bool = { true }
    /// Whether the certificate in the files is not valid yet by this machine's clock.
    var isCertificateEarly: @Sendable () -> Bool = { false }
    /// Whether the pins in the files are the newest that the log shows.
    var arePinsNewest: @Sendable () -> Bool = { true }
    /// Files of the data directory, beside log and accounts, that are not those any more which the server has open.
    var lostFiles: @Sendable () -> [String] = { [] }
    /// Databases of the data directory that another process keeps locked.
    var lockedDatabases: @Sendable () -> [String] = { [] }
    /// Files of the data directory, beside the log, that the next start needs, and that are gone.
    var missingFiles: @Sendable () -> [String] = { [] }

    /// What an operator has to attend to at this time, in seconds since 1970.
    ///
    /// - Parameter log: the server's; nil for a witness, which has none.
    func faults(of log: LogCondition?, at now: UInt64) -> [Fault] {
        var faults: [Fault] = isStopping() ? [.stopping] : []
        if let log { faults += self.faults(ofLog: log, at: now) }
        let seconds = UInt64(max(0, lag().components.seconds))
        if seconds > Self.unseenSeconds { faults.append(.behind(seconds: seconds)) }
        if isUnprotected() { faults.append(.unprotected) }
        if let reason = missingParts() { faults.append(.partsMissing(reason)) }
        if isDiskFull() { faults.append(.diskReserve) }
        if let end = certificateEnd() {
            if end <= now {
                faults.append(.certificateEnded)
            } else if (end - now) / 86_400 < Self.certificateDays {
                faults.append(.certificateEnds(days: (end - now) / 86_400))
            }
        }
        if isCertificateEarly() { faults.append(.certificateEarly) }
        if !isCertificateUsable() { faults.append(.certificateUnusable) }
        if !arePinsNewest() { faults.append(.pinsOutdated) }
        let locked = lockedDatabases()
        if !locked.isEmpty { faults.append(.databasesLocked(locked)) }
        return faults + fileFaults(of: log)
    }

    /// Those of them that are about lost files.
    func fileFaults(of log: LogCondition?) -> [Fault] {
        var faults: [Fault] = []
        let lost = lostFiles() + (log?.displaced.open ?? [])
        if !lost.isEmpty { faults.append(.filesLost(lost)) }
        let missing = missingFiles() + (log?.displaced.read ?? [])
        if !missing.isEmpty { faults.append(.filesMissing(missing)) }
        return faults
    }
}

extension Readiness {
    private func faults(ofLog log: LogCondition, at now: UInt64) -> [Fault] {
        var faults: [Fault] = log.isAlive ? [] : [.logStopped]
        let clock = clockFault()
        // The log's times are not those of a clock that it does not follow.
        let now = if case .ahead(let lead) = clock { now - min(now, lead) } else { now }
        let age = now > log.checkpointTime ? now - log.checkpointTime : 0
        if let interval, log.checkpointTime > 0, age > Self.missedCheckpoints * interval {
            faults.append(.nothingPublished(seconds: age))
        }
        if let seconds = Self.secondsAhead(log.epochTime, at: now) { faults.append(.epochAhead(seconds: seconds)) }
        if let clock { faults.append(.clock(clock)) }
        return faults
    }

    /// How far an epoch is in the future, if that is more than clients let it be.
    static func secondsAhead(_ time: UInt64?, at now: UInt64) -> UInt64? {
        guard let time, time > now, time - now > clockSkew else { return nil }
        return time - now
    }

    /// The answer of `/ready`: 503 with a line for each fault; and a line for each remark.
    func answer(of log: LogCondition?, at now: UInt64) -> Answer {
        let faults = faults(of: log, at: now)
        let remarks = remarks().map { $0 + "\n" }.joined()
        guard !faults.isEmpty else { return .text("ready\n" + remarks) }
        var answer = Answer.text(faults.map { $0.text + "\n" }.joined() + remarks)
        answer.status = .serviceUnavailable
        return answer
    }

    /// What `/ready` says, as metrics, and the end of the certificate.
    func samples(of log: LogCondition?, at now: UInt64) -> [MetricSample] {
        let reasons = Set(faults(of: log, at: now).map(\.reason))
        let possible =
            log == nil
            ? [Reason.diskReserve, .certificateEnds] + (reasons.contains(.behind) ? [.behind] : []) : Reason.allCases
        let republishing = interval.map { [MetricSample(.republishing, $0)] } ?? []
        let end = certificateEnd().map { [MetricSample(.certificateEnd, $0)] } ?? []
        return [MetricSample(.ready, reasons.isEmpty ? 1.0 : 0.0)] + end + republishing
            + possible.map { MetricSample(.notReady, reasons.contains($0) ? 1.0 : 0.0, ("reason", $0.rawValue)) }
    }

    /// That of a server with this configuration and identity.
    init(_ configuration: HTTPSServer.Configuration, _ tls: ServerTLS) {
        self.init()
        interval = configuration.republishInterval.map { UInt64(max(1, $0.components.seconds)) }
        if let lag = configuration.lag { self.lag = lag }
        if let fault = configuration.clockFault { clockFault = fault }
        if let log = configuration.sharedLog {
            remarks = { log.remarks }
            isUnprotected = { log.isUnprotected }
            missingParts = { log.missingParts }
        }
        watch(configuration.watchedFolder, tls)
        if let folder = configuration.watchedFolder {
            let files = HeldFiles(of: DataDirectory(path: folder))
            lostFiles = { files.lost }
            missingFiles = { files.missing }
        }
    }

    /// That of a witness with this folder and identity.
    init(watching folder: String?, _ tls: ServerTLS?) {
        self.init()
        watch(folder, tls)
    }

    private mutating func watch(_ folder: String?, _ tls: ServerTLS?) {
        if let folder {
            let reserve = DiskReserve(besideFileAt: folder + "/")
            isDiskFull = { reserve.isReached }
        }
        if let tls {
            certificateEnd = { tls.certificateEnd }
            isCertificateUsable = { tls.isUsableAfterStart }
            isCertificateEarly = { tls.isEarly }
            arePinsNewest = { tls.isKnown }
        }
    }
}

extension WitnessClock {
    fileprivate var text: String {
        "\(name.text) is \(ahead.magnitude) seconds \(ahead < 0 ? "behind" : "ahead")"
    }
}
