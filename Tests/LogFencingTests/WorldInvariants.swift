// SPDX-License-Identifier: Apache-2.0

import LogFencing
import TransparencyLog

// What must hold, checked where it could begin not to.
extension World {
    /// A quorum has acknowledged a statement, whether or not anybody hears it.
    mutating func acknowledge(_ statement: Statement, _ row: LogRow, _ rules: Rules) throws(Violation) {
        switch statement {
        case .claim: record.claimed = max(record.claimed, row.generation)
        case .confirm: return
        case .commit(let request): try acknowledge(request, row, rules)
        case .publish(let head, _): try show(head, rules)
        }
        if !record.acknowledged.contains(row.head) { record.acknowledged.append(row.head) }
    }

    private func acknowledge(_ request: CommitRequest, _ row: LogRow, _ rules: Rules) throws(Violation) {
        if rules.violations.contains(.oldGenerationCommits), request.generation < record.claimed {
            throw .oldGenerationCommits
        }
        if rules.violations.contains(.twoCommits) {
            for head in record.acknowledged where !head.frames.begins(row.head.frames) { throw .twoCommits }
        }
        if rules.violations.contains(.batchTwice), row.head.frames.repeatsABatch { throw .batchTwice }
    }

    /// A head can be shown from now on.
    private mutating func show(_ head: TreeHead, _ rules: Rules) throws(Violation) {
        if rules.violations.contains(.shownUnpublished) {
            let found = [memory, cosigned, record.signed].map { $0.map { head.frames.begins($0.frames) } ?? false }
            guard found == [true, true, true], record.acknowledged.contains(head) else { throw .shownUnpublished }
        }
        if head.size > record.shown.size { record.shown = head }
    }

    /// A head is signed.
    func requireCommitted(_ head: TreeHead, _ rules: Rules) throws(Violation) {
        guard !rules.violations.contains(.signedUncommitted) || record.acknowledged.contains(head) else {
            throw .signedUncommitted
        }
    }

    /// A signed note leaves the process that made it.
    mutating func noteLeaves(_ head: TreeHead, _ rules: Rules) throws(Violation) {
        try requireCommitted(head, rules)
        guard let signed = record.signed else { return record.signed = head }
        let (smaller, larger) = signed.size < head.size ? (signed, head) : (head, signed)
        guard smaller.frames.begins(larger.frames) else {
            if rules.violations.contains(.twoRootsSigned) { throw .twoRootsSigned }
            return
        }
        record.signed = larger
    }

    /// Somebody begins to lead. Of receipts that were given since the claim, somebody knows who has claimed later.
    func requireReceipts(in leadership: LogLeadership, _ rules: Rules) throws(Violation) {
        guard rules.violations.contains(.receiptLost), leadership.generation == record.claimed else { return }
        guard record.shown.frames.begins(leadership.committed.frames) else { throw .receiptLost }
    }

    /// A candidate stops until a person has decided. It must not if the database at which it has claimed has everything.
    mutating func halt(_ place: Int, _ rules: Rules) throws(Violation) {
        let row = nodes[candidates[place].node].row
        if rules.violations.contains(.stopWithoutLoss),
            record.acknowledged.allSatisfy({ $0.frames.begins(row.head.frames) })
        {
            throw .stopWithoutLoss
        }
        leave(place)
        candidates[place].program = .halted
    }
}
