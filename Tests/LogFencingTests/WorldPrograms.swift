// SPDX-License-Identifier: Apache-2.0

import LogFencing
import TransparencyLog

// What candidates do: what they decide is `LogFencing`'s, and carried out here.
extension World {
    mutating func start(_ place: Int, on node: Int, _ rules: Rules) throws(Violation) {
        let facts = DatabaseFacts(
            isInRecovery: false, commitsAreSynchronous: true, hasStandbys: true, systemIdentifier: 1, timeline: 1,
            database: 1)
        guard let takeover = try? LogTakeover(on: facts, DatabaseDemands(systemIdentifier: 1, timeline: 1, database: 1))
        else {
            return
        }
        leave(place)
        candidates[place].program = .takingOver(takeover)
        candidates[place].node = node
        candidates[place].isConnected = true
        if rules.weakening.contains(.believedEarly) {
            guard nodes[node].waiting == nil else { return leave(place) }
            return try tell(place, .claimed(nodes[node].row), rules)
        }
        send(.claim, of: place)
    }

    private mutating func send(_ statement: Statement, of place: Int) {
        candidates[place].statement = statement
        candidates[place].state = .sent
    }

    /// Everything that is in the process is gone.
    mutating func leave(_ place: Int) {
        for node in nodes.indices where nodes[node].waiting?.candidate == place { nodes[node].waiting?.candidate = nil }
        candidates[place] = Candidate()
        candidates[place].hasNeverRun = false
    }

    mutating func seal(_ place: Int, _ rules: Rules) throws(Violation) {
        guard case .leading(let leadership) = candidates[place].program else { return }
        let tree = candidates[place].tree
        let next = tree.adding(batch: tree.count, by: place, in: leadership.generation)
        candidates[place].tree = next
        try tell(place, .sealed(next.head), rules)
    }

    // MARK: Taking over

    private mutating func tell(_ place: Int, _ event: TakeoverEvent, _ rules: Rules) throws(Violation) {
        guard case .takingOver(var takeover) = candidates[place].program else { return }
        let tree = candidates[place].tree
        let action: TakeoverAction
        do throws(TakeoverEnd) { action = try takeover.take(event) { tree.root($0) } } catch {
            return try end(place, error, rules)
        }
        candidates[place].program = .takingOver(takeover)
        switch action {
        case .claim: return
        case .replay(let head):
            candidates[place].tree = head.frames
            try tell(place, .replayed(head), rules)
        case .recall: candidates[place].isRecalling = true
        case .confirm(let generation):
            if rules.weakening.contains(.notConfirmed) { return try tell(place, .confirmed, rules) }
            send(.confirm(generation), of: place)
        case .lead(let leadership):
            try requireReceipts(in: leadership, rules)
            candidates[place].program = .leading(leadership)
            try tell(place, .due, rules)
        }
    }

    /// Reads what was signed. This is a step of its own: others go on between the claim and it.
    mutating func recall(_ place: Int, _ rules: Rules) throws(Violation) {
        candidates[place].isRecalling = false
        let witness = rules.weakening.contains(.witnessesAway) ? nil : cosigned.map { SeenHead($0, in: .witness(nil)) }
        try tell(place, .recalled(memory: memory, others: witness.map { [$0] } ?? []), rules)
    }

    private mutating func end(_ place: Int, _ end: TakeoverEnd, _ rules: Rules) throws(Violation) {
        switch end {
        case .othersLead, .outcomeUnknown, .unfitDatabase: leave(place)
        case .outOfTurn: throw .outOfTurn
        case .conflict, .framesDiffer, .memoryBehind: try halt(place, rules)
        }
    }

    // MARK: Leading

    mutating func tell(_ place: Int, _ event: LeaderEvent, _ rules: Rules) throws(Violation) {
        guard case .leading(var leadership) = candidates[place].program else { return }
        let tree = candidates[place].tree
        let actions: [LeaderAction]
        do throws(LeadershipEnd) { actions = try leadership.take(event) { tree.root($0) } } catch {
            switch error {
            case .superseded, .outcomeUnknown, .unshown, .clockAhead: return leave(place)
            case .outOfTurn: throw .outOfTurn
            case .conflict: return try halt(place, rules)
            }
        }
        candidates[place].program = .leading(leadership)
        for action in actions { try carryOut(action, of: place, rules) }
    }

    private mutating func carryOut(_ action: LeaderAction, of place: Int, _ rules: Rules) throws(Violation) {
        switch action {
        case .commit(let request):
            if rules.weakening.contains(.signedEarly) { try noteLeaves(request.next, rules) }
            queue(.commit(request), of: place)
        // What is put there follows from frames that are committed, and nobody decides by it: no step of its own.
        case .place: try tell(place, .placed, rules)
        case .remember(let head, let after):
            try requireCommitted(head, rules)
            if rules.weakening.contains(.noSecondMemory) { return try tell(place, .remembered, rules) }
            candidates[place].swap = MemorySwap(after: after, next: head)
        case .witness(let head): candidates[place].sending = head
        case .publish(let head, let generation): queue(.publish(head, by: generation), of: place)
        case .announce: return
        }
    }

    /// One connection: the second statement waits for the first.
    private mutating func queue(_ statement: Statement, of place: Int) {
        if candidates[place].statement == nil { send(statement, of: place) } else { candidates[place].next = statement }
    }

    // MARK: Answers of the database

    mutating func hear(_ row: LogRow, _ place: Int, _ rules: Rules) throws(Violation) {
        switch nextStatement(of: place) {
        case .claim: try tell(place, .claimed(row), rules)
        case .confirm: try tell(place, .confirmed, rules)
        case .commit: try tell(place, .committed, rules)
        case .publish: try tell(place, .published, rules)
        case nil: return
        }
    }

    mutating func hearRefusal(_ place: Int, _ rules: Rules) throws(Violation) {
        _ = nextStatement(of: place)
        try tell(place, TakeoverEvent.refused, rules)
        try tell(place, LeaderEvent.refused, rules)
    }

    mutating func hearBreak(_ place: Int, _ rules: Rules) throws(Violation) {
        if case .commit(let request) = nextStatement(of: place), try settle(request, of: place, rules) { return }
        try tell(place, TakeoverEvent.unknown, rules)
        try tell(place, LeaderEvent.unknown, rules)
    }

    /// The statement that was under way. The one that waited for it is sent.
    private mutating func nextStatement(of place: Int) -> Statement? {
        defer {
            candidates[place].statement = candidates[place].next
            candidates[place].next = nil
            candidates[place].state = .sent
        }
        return candidates[place].statement
    }

    /// What a leader would do that does not end with an unknown commit. Says whether it goes on.
    private mutating func settle(_ request: CommitRequest, of place: Int, _ rules: Rules) throws(Violation) -> Bool {
        guard let node = nodes.indices.first(where: { nodes[$0].isPrimary && nodes[$0].waiting == nil }) else {
            return false
        }
        let row = nodes[node].row
        guard row.generation == request.generation else { return false }
        if rules.weakening.contains(.unknownIsRead), row.head == request.next {
            (candidates[place].node, candidates[place].isConnected) = (node, true)
            try tell(place, .committed, rules)
            return true
        }
        guard rules.weakening.contains(.unknownIsRetried), row.head.size < 7 else { return false }
        (candidates[place].node, candidates[place].isConnected) = (node, true)
        let tree = row.head.frames.adding(batch: request.after.size, by: place, in: request.generation)
        candidates[place].tree = tree
        send(
            .commit(CommitRequest(generation: request.generation, after: row.head, next: tree.head)), of: place)
        return true
    }
}
