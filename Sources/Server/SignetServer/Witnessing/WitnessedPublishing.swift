// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogWitness
import Logging
import SignetAPI
import TransparencyLog

/// Has every checkpoint cosigned by the witnesses that the clients' policy names with an address.
struct WitnessedPublishing: CheckpointWitnessing {
    /// What each witness cosigned last.
    let progress: WitnessProgress
    private let quorum: WitnessQuorum
    private let lines: WitnessLines
    private let heard: @Sendable ([Policy.Name: UInt64], Bool, Bool) -> Void
    private let watch: ContradictionWatch?

    /// - Parameters:
    ///   - heard: gets the times that witnesses name in each round, in seconds since 1970, whether enough have cosigned, and whether one has
    ///     answered with something else.
    ///   - watch: ends the log when a witness contradicts it; nil where others may write the log.
    /// - Returns: nil when the policy names no witness with an address: then the server publishes what it signs.
    /// - Throws: ``LogWitness/WitnessRootsError``.
    init?(
        _ policy: Policy, additionalRoots: [UInt8], clock: @escaping @Sendable () -> UInt64,
        heard: @escaping @Sendable ([Policy.Name: UInt64], Bool, Bool) -> Void = { _, _, _ in },
        watch: ContradictionWatch? = nil,
        logger: Logger
    ) throws(WitnessRootsError) {
        var configuration = WitnessQuorum.Configuration()
        configuration.additionalRoots = additionalRoots
        quorum = try WitnessQuorum(policy, configuration: configuration, clock: clock)
        guard policy.witnesses.contains(where: { $0.url != nil }) else { return nil }
        lines = WitnessLines(logger, uptime: ServerClock.system.uptime)
        progress = WitnessProgress(policy)
        self.heard = heard
        self.watch = watch
    }

    func cosignatures(
        on note: SignedNote, head: TreeHead, consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
    ) async throws(WitnessShortfall) -> [NoteSignature] {
        let round = await traced(.epochWitnesses) { span in
            let round = await quorum.cosign(note, head: head, consistency: consistency)
            span.set(.entries, head.size)
            span.set(.asked, round.reports.count)
            span.set(.cosigned, round.cosignatures.count)
            return round
        }
        for report in round.reports {
            guard let time = report.outcome.cosignedAt else { continue }
            progress.cosigned(report.name, size: head.size, at: time)
        }
        let times = round.reports.compactMap { report in report.outcome.namedTime.map { (report.name, $0) } }
        heard(Dictionary(times) { $1 }, round.isQuorumMet, round.reports.contains { $0.outcome.isRefusal })
        let failures = round.reports.filter { $0.outcome.isFailure }
        for report in failures {
            lines.note(.missing(report.name.text, why: report.outcome.label), size: head.size)
        }
        guard round.isQuorumMet else {
            lines.note(.belowQuorum, size: head.size)
            let missing = Set(failures.map(\.name))
            throw WitnessShortfall(
                missing: quorum.policy.witnesses.filter { missing.contains($0.name) }.map(\.key.name),
                isContradicted: watch?.contradicts(failures, head) ?? false)
        }
        return round.cosignatures
    }
}

extension WitnessOutcome {
    fileprivate var cosignedAt: UInt64? {
        switch self {
        case .present(let time), .cosigned(let time): time
        default: nil
        }
    }

    /// What time it is by the witness's clock.
    fileprivate var namedTime: UInt64? {
        switch self {
        case .cosigned(let time), .wrongTime(let time): time
        default: nil
        }
    }

    /// Whether the witness answers as an auditor does that does not cosign an old epoch. Any other answer says that it does not know the log or
    /// its key, or that something between here and there is wrong: the time is no reason for it.
    var isRefusal: Bool { self == .refused(.unavailable(status: 503)) }

    /// Whether the witness was asked, or should have been, and gave nothing.
    fileprivate var isFailure: Bool {
        switch self {
        case .present, .cosigned, .late: false
        default: true
        }
    }
}
