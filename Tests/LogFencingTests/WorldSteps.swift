// SPDX-License-Identifier: Apache-2.0

import LogFencing
import TransparencyLog

/// One thing that happens.
enum Step: Hashable {
    case start(Int, node: Int)
    case recall(Int)
    case seal(Int)
    case execute(Int)
    case hearBreak(Int)
    case swap(Int)
    case loseSwapAnswer(Int)
    case cosign(Int)
    case crash(Int, isStatementDropped: Bool, isSwapDropped: Bool)
    case disconnect(Int, isDropped: Bool)
    case replicate
    case restart
    case promote
    case cancel(Int)
    case executeOrphan(Int)
    case swapDelayed(Int)
}

/// A world and the rules that hold in it.
struct Rules {
    var weakening: Weakening = []
    /// What is looked for.
    var violations: Set<Violation> = Set(Violation.all)
}

extension Violation {
    static let all: [Violation] = [
        .twoRootsSigned, .memoryFell, .signedUncommitted, .receiptLost, .oldGenerationCommits, .twoCommits,
        .shownUnpublished, .stopWithoutLoss, .batchTwice, .outOfTurn,
    ]
}

extension World {
    /// Everything that can happen next.
    var steps: [Step] {
        var steps: [Step] = []
        for place in candidates.indices { addSteps(of: place, to: &steps) }
        if nodes[0].hasStandby, !nodes[0].unsent.isEmpty { steps.append(.replicate) }
        if left.restarts > 0 { steps.append(.restart) }
        if left.promotions > 0 { steps.append(.promote) }
        for place in nodes.indices {
            if left.breaks > 0, nodes[place].waiting?.candidate != nil { steps.append(.cancel(place)) }
            if !nodes[place].orphans.isEmpty, nodes[place].waiting == nil { steps.append(.executeOrphan(place)) }
        }
        for place in delayed.indices { steps.append(.swapDelayed(place)) }
        return steps
    }

    private func addSteps(of place: Int, to steps: inout [Step]) {
        let candidate = candidates[place]
        switch candidate.program {
        case .halted: return
        case .idle:
            // Candidates are alike: the first one is the first to do anything.
            if place > 0, candidates[place - 1].hasNeverRun { return }
            for node in nodes.indices where nodes[node].isPrimary && nodes[node].row.generation < left.generations {
                steps.append(.start(place, node: node))
            }
        case .leading(let leadership):
            if !leadership.isWriting, candidate.tree.count < left.frames { steps.append(.seal(place)) }
        case .takingOver: if candidate.isRecalling { steps.append(.recall(place)) }
        }
        if candidate.statement != nil {
            switch candidate.state {
            case _ where !candidate.isConnected: steps.append(.hearBreak(place))
            case .sent: if nodes[candidate.node].waiting == nil { steps.append(.execute(place)) }
            case .executed: break
            }
            if left.breaks > 0, candidate.isConnected {
                steps.append(.disconnect(place, isDropped: false))
                if candidate.state == .sent { steps.append(.disconnect(place, isDropped: true)) }
            }
        }
        if candidate.swap != nil {
            steps.append(.swap(place))
            if left.breaks > 0 { steps.append(.loseSwapAnswer(place)) }
        }
        if candidate.sending != nil { steps.append(.cosign(place)) }
        if left.crashes > 0, candidate.program != .idle {
            let (isSent, swapIsSent) = (candidate.isOnItsWay, candidate.swap != nil)
            steps.append(.crash(place, isStatementDropped: true, isSwapDropped: true))
            if isSent { steps.append(.crash(place, isStatementDropped: false, isSwapDropped: true)) }
            if swapIsSent { steps.append(.crash(place, isStatementDropped: true, isSwapDropped: false)) }
            if isSent, swapIsSent { steps.append(.crash(place, isStatementDropped: false, isSwapDropped: false)) }
        }
    }

    /// Lets a step happen.
    mutating func take(_ step: Step, _ rules: Rules) throws(Violation) {
        switch step {
        case .start(let place, let node): try start(place, on: node, rules)
        case .recall(let place): try recall(place, rules)
        case .seal(let place): try seal(place, rules)
        case .execute(let place): try execute(place, rules)
        case .hearBreak(let place): try hearBreak(place, rules)
        case .swap(let place):
            guard let swap = candidates[place].swap else { return }
            candidates[place].swap = nil
            try tell(place, put(swap, rules), rules)
        case .loseSwapAnswer(let place):
            left.breaks -= 1
            if let swap = candidates[place].swap { delayed.append(swap) }
            candidates[place].swap = nil
            try tell(place, .memoryUnknown, rules)
        case .cosign(let place): try cosign(place, rules)
        case .crash(let place, let isStatementDropped, let isSwapDropped):
            left.crashes -= 1
            if !isStatementDropped { orphan(place) }
            if !isSwapDropped, let swap = candidates[place].swap { delayed.append(swap) }
            leave(place)
        case .disconnect(let place, let isDropped):
            left.breaks -= 1
            if !isDropped { orphan(place) }
            abandonWait(of: place)
            candidates[place].isConnected = false
        case .replicate: try replicate(rules)
        case .restart: restart()
        case .promote: promote()
        case .cancel(let node):
            left.breaks -= 1
            guard let waiter = nodes[node].waiting?.candidate else { return }
            nodes[node].waiting = nil
            candidates[waiter].isConnected = false
        case .executeOrphan(let node):
            let statement = nodes[node].orphans.removeFirst()
            try write(statement, on: node, for: nil, rules)
        case .swapDelayed(let number): try put(delayed.remove(at: number), rules)
        }
    }
}

extension Candidate {
    /// Whether a statement was sent that the database has not executed.
    var isOnItsWay: Bool { statement != nil && state == .sent && isConnected }
}

// MARK: Databases

extension World {
    /// A statement whose connection is gone may still be executed.
    private mutating func orphan(_ place: Int) {
        let candidate = candidates[place]
        if candidate.isOnItsWay, let statement = candidate.statement { nodes[candidate.node].orphans.append(statement) }
    }

    /// The server does not notice that a connection is gone while it waits for its standby.
    private mutating func abandonWait(of place: Int) {
        for node in nodes.indices where nodes[node].waiting?.candidate == place { nodes[node].waiting?.candidate = nil }
    }

    private mutating func execute(_ place: Int, _ rules: Rules) throws(Violation) {
        guard let statement = candidates[place].statement else { return }
        candidates[place].state = .executed
        try write(statement, on: candidates[place].node, for: place, rules)
    }

    /// Executes a statement, which then waits for the standby.
    private mutating func write(
        _ statement: Statement, on node: Int, for candidate: Int?, _ rules: Rules
    ) throws(Violation) {
        guard let row = nodes[node].row.executing(statement, rules.weakening) else {
            if let candidate { try hearRefusal(candidate, rules) }
            return
        }
        nodes[node].row = row
        if node == 0 { nodes[0].unsent.append(row) }
        guard node == 0, !rules.weakening.contains(.asynchronous) else {
            return try acknowledge(statement, row, to: candidate, rules)
        }
        nodes[0].waiting = Waiting(candidate: candidate, statement: statement)
    }

    private mutating func replicate(_ rules: Rules) throws(Violation) {
        nodes[1].row = nodes[0].unsent.removeFirst()
        guard nodes[0].unsent.isEmpty, let waiting = nodes[0].waiting else { return }
        nodes[0].waiting = nil
        try acknowledge(waiting.statement, nodes[0].row, to: waiting.candidate, rules)
    }

    /// The quorum has what a statement wrote. Who waits for that hears it at once: to hear it later is the same as to be slow with what is
    /// sent next, and never to hear it is the same as to be gone while the statement is under way.
    private mutating func acknowledge(
        _ statement: Statement, _ row: LogRow, to candidate: Int?, _ rules: Rules
    ) throws(Violation) {
        try acknowledge(statement, row, rules)
        if let candidate { try hear(row, candidate, rules) }
    }

    /// The old primary comes back and shows everything that is on its disk.
    private mutating func restart() {
        left.restarts -= 1
        nodes[0].waiting = nil
        nodes[0].orphans = []
        for place in candidates.indices where candidates[place].node == 0 { candidates[place].isConnected = false }
    }

    /// The standby becomes a primary, and takes nothing more from the one before, which may still run.
    private mutating func promote() {
        left.promotions -= 1
        nodes[0].hasStandby = false
        nodes[1].isPrimary = true
    }
}

extension LogRow {
    fileprivate func executing(_ statement: Statement, _ weakening: Weakening) -> LogRow? {
        switch statement {
        case .claim: return claimed()
        case .confirm(let leader): return confirming(leader)
        case .publish(let head, let leader): return publishing(head, by: leader)
        case .commit(let request):
            return committing(
                CommitRequest(
                    generation: weakening.contains(.generationIgnored) ? generation : request.generation,
                    after: request.after, next: request.next))
        }
    }
}

// MARK: Store and witness

extension World {
    @discardableResult private mutating func put(
        _ swap: MemorySwap, _ rules: Rules
    ) throws(Violation) -> LeaderEvent {
        guard memory == swap.after || rules.weakening.contains(.plainPut) else { return .memoryHolds(memory) }
        if rules.violations.contains(.memoryFell), (memory?.size ?? 0) > swap.next.size { throw .memoryFell }
        memory = swap.next
        return .remembered
    }

    /// The note leaves the process: the witness cosigns what extends what it has cosigned.
    private mutating func cosign(_ place: Int, _ rules: Rules) throws(Violation) {
        guard let head = candidates[place].sending else { return }
        candidates[place].sending = nil
        try noteLeaves(head, rules)
        guard let cosigned, !cosigned.frames.begins(head.frames) else {
            cosigned = head
            return try tell(place, .witnessed, rules)
        }
        try tell(place, .witnessHolds(cosigned), rules)
    }
}
