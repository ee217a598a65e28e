// SPDX-License-Identifier: Apache-2.0

import Telemetry

/// How an audit that goes on is, at one time: a value, from which `/ready` and `/metrics` are printed.
struct AuditCondition: Sendable {
    /// What an operator, or whoever relies on the log, has to attend to.
    enum Fault: Hashable, Sendable {
        /// The log broke its rules, now or earlier.
        case guilty
        /// Nothing that the log publishes was found sound since the auditor started.
        case nothingAudited
        /// Nothing that it publishes was found sound for this many seconds.
        case silent(seconds: UInt64)
        /// The free space on the disk is no more than what is kept for evidence.
        case diskReserve
    }

    /// The kinds of ``Fault``, as the label of the metrics has them.
    enum Reason: String, CaseIterable, Sendable {
        case guilty = "log_guilty"
        case notAudited = "not_audited"
        case diskReserve = "disk_reserve"
    }

    /// The name of the log.
    var log = ""
    /// Entries under the largest checkpoint that was found sound; nil before the first.
    var size: UInt64?
    /// When its last epoch ended, in seconds since 1970 by the log's clock.
    var epochTime: UInt64?
    var isGuilty = false
    /// Files of evidence in the folder.
    var evidenceCount = 0
    /// When what the log publishes was last found sound, in seconds since 1970; nil: not since the start.
    var soundAt: UInt64?
    /// For how many seconds that may fail.
    var patience: UInt64 = 600
    /// Bytes that may still be written beside the evidence's reserve; nil if unknown.
    var room: UInt64?
    var looks = AuditLooks()

    /// What is wrong at a time, in seconds since 1970.
    func faults(at now: UInt64) -> [Fault] {
        var faults: [Fault] = isGuilty ? [.guilty] : []
        if let soundAt {
            let silence = now > soundAt ? now - soundAt : 0
            if silence > patience { faults.append(.silent(seconds: silence)) }
        } else {
            faults.append(.nothingAudited)
        }
        if let room, room <= AuditFolder.reservedByteCount { faults.append(.diskReserve) }
        return faults
    }

    /// The answer of `/ready`: 503 with a line for each fault.
    func readiness(at now: UInt64) -> CosignerAnswer {
        let faults = faults(at: now)
        guard !faults.isEmpty else { return CosignerAnswer(status: 200, body: Array("ready\n".utf8)) }
        return CosignerAnswer(status: 503, body: Array(faults.map { $0.text + "\n" }.joined().utf8))
    }

    /// The values of `/metrics`.
    func samples(at now: UInt64) -> [MetricSample] {
        let label = ("log", log)
        let reasons = Set(faults(at: now).map(\.reason))
        var samples = [
            MetricSample(.ready, reasons.isEmpty ? 1.0 : 0.0), MetricSample(.auditedEntries, size ?? 0, label),
            MetricSample(.auditedTime, soundAt ?? 0, label), MetricSample(.auditedFaults, UInt64(evidenceCount), label),
            MetricSample(.auditTime, looks.seconds, label), MetricSample(.diskReserve, AuditFolder.reservedByteCount),
        ]
        samples += Reason.allCases.map {
            MetricSample(.notReady, reasons.contains($0) ? 1.0 : 0.0, ("reason", $0.rawValue))
        }
        samples += AuditLooks.Result.allCases.map {
            MetricSample(.auditRounds, looks.counts[$0] ?? 0, label, ("result", $0.rawValue))
        }
        if let epochTime { samples.append(MetricSample(.auditedAge, now > epochTime ? now - epochTime : 0, label)) }
        if let room { samples.append(MetricSample(.diskFree, room)) }
        return samples
    }
}

/// How looks at what a log publishes ended, and how long they took.
struct AuditLooks: Sendable {
    /// How a look ended. The raw value is the label in the metrics.
    enum Result: String, CaseIterable, Sendable {
        /// What is published is sound.
        case sound
        /// What is published is older than what was audited: the log asks for cosignatures first.
        case behind
        /// A part of a long log was read; the next look goes on.
        case paused
        /// The log or a disk could not be read, or what was read proves nothing.
        case failed
        /// The log broke its rules.
        case guilty
    }

    private(set) var counts: [Result: UInt64] = [:]
    private(set) var seconds: Double = 0

    /// Counts one look.
    mutating func add(_ result: Result, nanoseconds: UInt64) {
        counts[result, default: 0] += 1
        seconds += Double(nanoseconds) / 1e9
    }
}

extension AuditLooks.Result {
    init(_ error: AuditorError) {
        self =
            switch error {
            case .guilty, .evidenceNotKept: .guilty
            case .older: .behind
            case .paused: .paused
            default: .failed
            }
    }
}

extension AuditCondition.Fault {
    /// The label of the fault in the metrics.
    var reason: AuditCondition.Reason {
        switch self {
        case .guilty: .guilty
        case .nothingAudited, .silent: .notAudited
        case .diskReserve: .diskReserve
        }
    }

    /// The line about the fault in the answer of `/ready`.
    var text: String {
        switch self {
        case .guilty: "the log broke its rules; the proof is in the auditor's folder"
        case .nothingAudited: "nothing that the log publishes was found sound yet"
        case .silent(let seconds): "nothing that the log publishes was found sound for \(seconds) seconds"
        case .diskReserve: "only the room for evidence is left on the disk"
        }
    }
}
