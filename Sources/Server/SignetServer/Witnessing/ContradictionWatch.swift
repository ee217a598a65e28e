// SPDX-License-Identifier: Apache-2.0

import LogWitness
import Synchronization
import TransparencyLog

/// Finds out while a server runs what ``RollbackGuard`` could not find out at its start: that a witness has cosigned what the log does not
/// extend. It is asked about rounds below the quorum only, so that one witness that lies ends no server whose other witnesses cosign.
///
/// Only for a log that nobody else may write: a process that leads no more is contradicted by whoever leads.
final class ContradictionWatch: Sendable {
    private let disregarded: Set<Policy.Name>
    private let state = Mutex<RollbackError?>(nil)

    /// - Parameter disregarded: witnesses whose word does not count.
    init(disregarding disregarded: Set<Policy.Name>) { self.disregarded = disregarded }

    /// What a witness has said; nil: nothing like that.
    var found: RollbackError? { state.withLock { $0 } }

    /// Whether one of these witnesses knows a later checkpoint than this one, or another tree of its size. This log never asks a
    /// witness to cosign anything larger than what it asks last.
    func contradicts(_ reports: [WitnessRoundReport.Report], _ head: TreeHead) -> Bool {
        let faults = reports.lazy.filter { !self.disregarded.contains($0.name) }.compactMap { report in
            switch report.outcome {
            case .ahead(let size): RollbackError.foundBehindWitness(report.name, size: size, own: head)
            case .refused(.inconsistent): .foundOtherTreeWitnessed(report.name, head)
            default: nil
            }
        }
        guard let fault = faults.first else { return false }
        state.withLock { $0 = $0 ?? fault }
        return true
    }
}
