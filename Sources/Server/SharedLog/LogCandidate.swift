// SPDX-License-Identifier: Apache-2.0

package import LogEngine
package import LogFencing
import ObjectStores
package import SQLStores
package import TransparencyLog

/// A process that would lead a shared log.
package struct LogCandidate: Sendable {
    let engines: SharedLogEngines
    let holder: String
    let clock: @Sendable () -> Duration
    let wall: (@Sendable () -> UInt64)?

    /// - Parameters:
    ///   - holder: a name that no other process has: of the machine and of this start.
    ///   - clock: of this process; it never runs back.
    ///   - wall: this process's time in seconds since 1970, by which epochs are dated; nil: it is not compared with the database's.
    package init(
        _ engines: SharedLogEngines, holder: String, clock: @escaping @Sendable () -> Duration,
        wall: (@Sendable () -> UInt64)? = nil
    ) {
        self.engines = engines
        self.holder = holder
        self.clock = clock
        self.wall = wall
    }

    /// Whether it is worth trying to lead, as far as the database says. That the log does not fork rests on none of it.
    package func look() async -> LeaseSight {
        let (database, holder, before) = (engines.database, holder, wall?())
        let seen = try? await database.read { try $0.lease(but: holder, now: database.nowExpression) }
        guard let seen else { return LeaseSight(isFree: true, clock: nil) }
        let difference = before.flatMap { before in
            wall.map { ClockDifference(before: before, after: $0(), database: seen.time) }
        }
        return LeaseSight(isFree: !seen.isTaken, clock: difference)
    }

    /// Demands that the object store answers, before anything is claimed: who cannot read the second memory cannot take over, and a claim in
    /// vain disturbs others.
    ///
    /// - Throws: ``CandidacyEnd``; it is passing.
    package func reachesMemory() async throws(CandidacyEnd) {
        do throws(CandidacyEnd) { _ = try await recall() } catch {
            if case .fault(.unavailable) = error { throw error }
        }
    }

    /// Takes the log over, if nobody else leads it.
    ///
    /// - Parameters:
    ///   - link: a connection of its own, which is never made anew; closed when this fails, and with the log otherwise.
    ///   - facts: what that connection's server says of itself, and what is demanded.
    ///   - configuration: with the log's key.
    ///   - follower: has the log in memory, so that only what is committed beyond it is read; nothing else steps it meanwhile. It is over
    ///     when this succeeds, and otherwise goes on unless it says so. Nil: the whole log is read after the claim.
    ///   - turn: told what is shown.
    ///   - others: what witnesses hold who answer, asked by what was signed last, as this candidate has read it.
    ///   - requirement: called once the log is read and before anything is signed, with whether an entry with this hash is in the log; a
    ///     follower's is not looked through, and has none.
    /// - Returns: the log. It fails by itself when the lease is lost or given back.
    /// - Throws: ``CandidacyEnd``.
    package func lead(
        over link: any SQLDatabase, _ facts: (DatabaseFacts, DatabaseDemands), _ configuration: LogConfiguration,
        from follower: LogFollower? = nil, turn: LeaderTurn = LeaderTurn(),
        others: @Sendable (PublishedCheckpoint) async -> [SeenHead] = { _ in [] },
        requirement: @Sendable ((TreeHash) -> Bool) throws(SharedLogFault) -> Void = { (_) throws(SharedLogFault) in }
    ) async throws(CandidacyEnd) -> DurableLog {
        do throws(CandidacyEnd) {
            return try await takeOver(link, facts, configuration, follower, turn, others, requirement)
        } catch {
            link.close()
            throw error
        }
    }

    private func takeOver(
        _ link: any SQLDatabase, _ facts: (DatabaseFacts, DatabaseDemands), _ configuration: LogConfiguration,
        _ follower: LogFollower?, _ turn: LeaderTurn, _ others: @Sendable (PublishedCheckpoint) async -> [SeenHead],
        _ requirement: @Sendable ((TreeHash) -> Bool) throws(SharedLogFault) -> Void
    ) async throws(CandidacyEnd) -> DurableLog {
        let taken = try await taken(link, facts, configuration.sealing, follower, turn, others)
        do throws(CandidacyEnd) {
            try faulting { () throws(SharedLogFault) in try requirement { taken.replica.contains($0) } }
            let published = try faulting { () throws(SharedLogFault) in try engines.published(taken.row) }
            let shown = taken.replica.newest(published)
            let stores = LeaderStores(
                engines, link: link, lease: taken.lease, taken.leadership, frontier: taken.frontier,
                memory: taken.memory?.tag, shown: shown.head.size)
            let log = await taken.replica.lead(in: stores, shown: shown, configuration)
            let meters = engines.meters
            meters.leads(true)
            let lease = taken.lease
            lease.whenLost { [weak log, weak lease] in
                meters.leads(false)
                log?.fail(.leadershipEnded(lease?.end ?? .superseded))
            }
            return log
        } catch {
            await taken.lease.end()
            throw error
        }
    }

    /// A log that was taken over.
    private struct Taken {
        let row: SharedLogRow
        let replica: Replica
        let frontier: MerkleFrontier
        let leadership: LogLeadership
        let memory: (checkpoint: PublishedCheckpoint, tag: ObjectTag)?
        let lease: LeaseKeeper
    }

    private func taken(
        _ link: any SQLDatabase, _ facts: (DatabaseFacts, DatabaseDemands), _ sealing: (any LogSealing)?,
        _ follower: LogFollower?, _ turn: LeaderTurn, _ others: @Sendable (PublishedCheckpoint) async -> [SeenHead]
    ) async throws(CandidacyEnd) -> Taken {
        var takeover = try deciding { () throws(TakeoverEnd) in try LogTakeover(on: facts.0, facts.1) }
        let (claimed, sent, told) = try await claim(over: link, &takeover)
        let lease = LeaseKeeper(
            engines.database, holder: holder, sent: sent, told: told, clock: clock, wall: wall, turn: turn)
        lease.start()
        do throws(CandidacyEnd) {
            let replica = try await replica(claimed.row, over: link, sealing, follower)
            let root: (UInt64) -> TreeHash? = { replica.root(size: $0) }
            guard let frontier = replica.frontier else { throw .fault(.rowDamaged) }
            _ = try take(.replayed(frontier.head), &takeover, root)
            let memory = try await recall()
            // If nothing was signed, by what is published: a database that says so too may be a copy of before.
            let asked = memory?.checkpoint ?? (try? engines.published(claimed))
            let event = TakeoverEvent.recalled(
                memory: memory?.checkpoint.head, others: try await seen(by: asked, others))
            let leadership = try await judge(event, link, &takeover, root)
            return Taken(
                row: claimed, replica: replica, frontier: frontier, leadership: leadership, memory: memory,
                lease: lease)
        } catch {
            await lease.end()
            throw error
        }
    }

    /// Takes the log over in order to end it here: from then on nobody else writes it, and neither does this process. The lease is kept until
    /// ``ClaimedLog/giveBack()``.
    ///
    /// - Parameters:
    ///   - link: a connection of its own; the caller closes it.
    ///   - facts: what that connection's server says of itself, and what is demanded.
    ///   - sealing: gets every entry.
    ///   - others: as for ``lead(over:_:_:from:turn:others:requirement:)``.
    ///   - requirement: called once the log is read.
    /// - Throws: ``CandidacyEnd``: as if this were to lead; ``SharedLogFault/checkpointInvalid``: nothing says what was signed last.
    package func end(
        over link: any SQLDatabase, _ facts: (DatabaseFacts, DatabaseDemands), sealing: (any LogSealing)? = nil,
        others: @Sendable (PublishedCheckpoint) async -> [SeenHead] = { _ in [] },
        requirement: @Sendable () throws(SharedLogFault) -> Void = { () throws(SharedLogFault) in }
    ) async throws(CandidacyEnd) -> ClaimedLog {
        let taken = try await taken(link, facts, sealing, nil, LeaderTurn(), others)
        do throws(CandidacyEnd) {
            try faulting(requirement)
            guard let memory = taken.memory else { throw .fault(.checkpointInvalid) }
            let shown = try faulting { () throws(SharedLogFault) in try engines.published(taken.row) }
            return ClaimedLog(
                generation: taken.row.row.generation, head: taken.row.row.head,
                signed: SignedHead(head: memory.checkpoint.head, note: memory.checkpoint.note), published: shown,
                memory: memory.tag, lease: taken.lease)
        } catch {
            await taken.lease.end()
            throw error
        }
    }

    // MARK: The steps

    /// Claims the lease and the next generation, in one transaction.
    ///
    /// - Returns: the row; when the lease was asked for, by this process's clock; and the database's time, in milliseconds since 1970.
    func claim(
        over link: any SQLDatabase, _ takeover: inout LogTakeover
    ) async throws(CandidacyEnd) -> (SharedLogRow, sent: Duration, told: Int64) {
        let (sent, now) = (clock(), link.nowExpression)
        let claimed: (SharedLogRow, Int64)?
        do {
            claimed = try await link.write { [holder] transaction in
                guard let told = try transaction.takeLease(holder, now: now) else { return nil }
                return (try transaction.claim(), told)
            }
        } catch let fault as SharedLogFault { throw .fault(fault) } catch {
            _ = try take(.unknown, &takeover) { _ in nil }
            throw .ended(.outcomeUnknown)
        }
        guard let (row, told) = claimed else {
            _ = try take(.refused, &takeover) { _ in nil }
            throw .ended(.othersLead)
        }
        guard row.origin == engines.origin.bytes else { throw .fault(.otherLog(origin: row.origin)) }
        _ = try take(.claimed(row.row), &takeover) { _ in nil }
        return (row, sent, told)
    }

    private func replica(
        _ row: LogRow, over link: any SQLDatabase, _ sealing: (any LogSealing)?, _ follower: LogFollower?
    ) async throws(CandidacyEnd) -> Replica {
        if let follower {
            try await follower.catchUp(with: row, over: engines.over(link))
            return .followed(follower.log)
        }
        do throws(SharedLogOpenError) {
            return .read(
                try await engines.replay(
                    to: row.head.size, sealing: sealing, shown: row.published.size,
                    placed: row.published.size))
        } catch {
            switch error {
            case .log(let error): throw .log(error)
            case .fault(let fault): throw .fault(fault)
            }
        }
    }

    /// What was signed last, by the object store.
    func recall() async throws(CandidacyEnd) -> (checkpoint: PublishedCheckpoint, tag: ObjectTag)? {
        let object: StoredObject?
        do throws(ObjectFault) { object = try await engines.objects.get(SharedLogEngines.signedPath) } catch {
            throw .fault(.unavailable("objects: \(error)"))
        }
        guard let object else { return nil }
        guard BurntMemory.note(of: object.bytes) == nil else { throw .fault(.movedAway) }
        guard let checkpoint = engines.logSigned(object.bytes) else {
            throw .fault(engines.refusal(ofMemory: object.bytes))
        }
        return (checkpoint, object.tag)
    }

    /// What is served for mirrors, and what witnesses hold. Who does not answer is not asked again.
    ///
    /// - Parameter asked: by which witnesses are asked; nil: nothing can be published, so that nobody leads.
    private func seen(
        by asked: PublishedCheckpoint?, _ others: @Sendable (PublishedCheckpoint) async -> [SeenHead]
    ) async throws(CandidacyEnd) -> [SeenHead] {
        let served = (try? await engines.objects.get(SharedLogEngines.checkpointPath)).flatMap { $0 }
        let head = served.flatMap { engines.logSigned($0.bytes)?.head }
        let seen = head.map { [SeenHead($0, in: .publishedCheckpoint)] } ?? []
        guard let asked else { return seen }
        return seen + (try await told(by: asked, others))
    }

    /// What witnesses hold.
    ///
    /// A leader that was not told yet may have signed more meanwhile, and had it cosigned. If the second memory has that by now, it is compared in
    /// the place of the sizes up to it that witnesses name.
    ///
    /// Security: whoever holds the bucket may answer a second question otherwise than the first. So the witnesses are asked by the answer to the
    /// first, and the second excuses nothing that is not compared itself.
    /// - Throws: ``CandidacyEnd``, and it is passing: no second answer came, so nothing is known of what witnesses name.
    func told(
        by asked: PublishedCheckpoint, _ others: @Sendable (PublishedCheckpoint) async -> [SeenHead]
    ) async throws(CandidacyEnd) -> [SeenHead] {
        let told = await others(asked)
        guard told.contains(where: { $0.isWitnessed(beyond: asked.head.size) }) else { return told }
        let now: TreeHead
        do throws(CandidacyEnd) { now = try await recall()?.checkpoint.head ?? asked.head } catch {
            if error.isPassing { throw error }
            now = asked.head
        }
        let left = told.filter { !$0.isWitnessed(beyond: asked.head.size) || $0.head.size > now.size }
        return left + [SeenHead(now, in: .secondMemory)]
    }

    private func judge(
        _ event: TakeoverEvent, _ link: any SQLDatabase, _ takeover: inout LogTakeover,
        _ root: (UInt64) -> TreeHash?
    ) async throws(CandidacyEnd) -> LogLeadership {
        switch try take(event, &takeover, root) {
        case .lead(let leadership): return leadership
        case .confirm(let generation):
            let isOurs: Bool
            do { isOurs = try await link.write { try $0.confirm(generation) } } catch {
                _ = try take(.unknown, &takeover, root)
                throw .ended(.outcomeUnknown)
            }
            _ = try take(isOurs ? .confirmed : .refused, &takeover, root)
            throw .ended(.outOfTurn)
        default: throw .ended(.outOfTurn)
        }
    }

    private func take(
        _ event: TakeoverEvent, _ takeover: inout LogTakeover, _ root: (UInt64) -> TreeHash?
    ) throws(CandidacyEnd) -> TakeoverAction {
        do throws(TakeoverEnd) { return try takeover.take(event, root: root) } catch { throw .ended(error) }
    }

    func deciding<Value>(_ body: () throws(TakeoverEnd) -> Value) throws(CandidacyEnd) -> Value {
        do throws(TakeoverEnd) { return try body() } catch { throw .ended(error) }
    }

    private func faulting<Value>(_ body: () throws(SharedLogFault) -> Value) throws(CandidacyEnd) -> Value {
        do throws(SharedLogFault) { return try body() } catch { throw .fault(error) }
    }
}

/// What a candidate sees before it tries to lead.
package struct LeaseSight: Hashable, Sendable {
    /// Whether nobody else has a lease that runs, or that cannot be known.
    package let isFree: Bool
    /// How far this process's clock is from the database's; nil if unknown.
    package let clock: ClockDifference?

    /// Whether it is worth trying to lead.
    package var mayTry: Bool { isFree && clock?.allowsEpochs != false }
}

/// The whole log, as a candidate has it in memory.
private enum Replica {
    /// Read from its beginning, after the claim.
    case read(FrameReplay)
    /// Followed before the claim.
    case followed(DurableLog)

    func root(size: UInt64) -> TreeHash? {
        switch self {
        case .read(let replay): replay.root(size: size)
        case .followed(let log): log.committedRoot(size: size)
        }
    }

    /// Whether a log that was read after the claim has an entry.
    func contains(_ leaf: TreeHash) -> Bool {
        if case .read(let replay) = self { replay.contains(leaf) } else { false }
    }

    var frontier: MerkleFrontier? {
        switch self {
        case .read(let replay): replay.frontier
        case .followed(let log): log.frontier
        }
    }

    /// What is to be shown first. Who has followed may have seen more published than a database has that was promoted since.
    func newest(_ published: PublishedCheckpoint) -> PublishedCheckpoint {
        guard case .followed(let log) = self, log.published.head.size > published.head.size else { return published }
        return log.published
    }

    func lead(
        in stores: any LogStores, shown: PublishedCheckpoint, _ configuration: LogConfiguration
    ) async -> DurableLog {
        switch self {
        case .read(let replay): DurableLog.lead(replay, in: stores, shown: shown, configuration)
        case .followed(let log): await log.promoted(in: stores, shown: shown, configuration)
        }
    }
}

extension SeenHead {
    fileprivate func isWitnessed(beyond size: UInt64) -> Bool {
        if case .witness = place { head.size > size } else { false }
    }
}

extension DatabaseFault {
    fileprivate var isOfAnotherDatabase: Bool {
        switch self {
        case .otherInstallation, .otherDatabase: true
        default: false
        }
    }
}

/// Why a candidate does not lead.
package enum CandidacyEnd: Error, Hashable, Sendable {
    /// By the rules of leading.
    case ended(TakeoverEnd)
    /// The frames are not those of a log of ours.
    case log(LogOpenError)
    /// What database or object store hold, or that they do not answer.
    case fault(SharedLogFault)

    /// Whether the same candidate may lead later, without anything that a person would have to decide.
    package var isPassing: Bool {
        switch self {
        case .ended(.othersLead), .ended(.outcomeUnknown), .fault(.unavailable): true
        // It may become fit again, or the next connection reach another one: after a promotion, for example.
        case .ended(.unfitDatabase(let fault)): !fault.isOfAnotherDatabase
        case .ended, .log, .fault: false
        }
    }
}
