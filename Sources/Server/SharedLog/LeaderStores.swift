// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogEngine
import LogFencing
import ObjectStores
import SQLStores
import Synchronization
import TransparencyLog

/// Where the one process writes that leads a shared log. What it may do next is decided by ``LogFencing/LogLeadership`` alone: each function here
/// executes one of its actions and tells it what has happened.
final class LeaderStores: LogStores {
    private struct State {
        var leadership: LogLeadership
        var frontier: MerkleFrontier
        /// The head that is to be shown, while there is one.
        var toShow: TreeHead?
        /// The same, once it is remembered: witnesses that were too few are asked again, and nothing else is done anew.
        var resting: TreeHead?
        /// The version of the second memory that holds what `leadership` knows of it.
        var memory: ObjectTag?
        /// The sizes of the heads whose tails are still there, as far as this leader knows.
        var tails: [UInt64]
    }

    private let engines: SharedLogEngines
    /// The connection of the claim.
    private let link: any SQLDatabase
    private let lease: LeaseKeeper
    private let state: Mutex<State>

    init(
        _ engines: SharedLogEngines, link: any SQLDatabase, lease: LeaseKeeper, _ leadership: LogLeadership,
        frontier: MerkleFrontier, memory: ObjectTag?, shown: UInt64
    ) {
        self.engines = engines
        self.link = link
        self.lease = lease
        state = Mutex(State(leadership: leadership, frontier: frontier, memory: memory, tails: [shown]))
    }

    // MARK: Frames

    func commit(_ groups: [HashedEntries]) throws(LogFailure) -> UInt64 {
        guard lease.mayWrite() else { throw .leadershipEnded(lease.end) }
        var frontier = state.withLock { $0.frontier }
        let first = frontier.size
        for group in groups { for leaf in group.leaves { frontier.append(leaf) } }
        let payload = groups.flatMap(\.payload)
        guard case .commit(let request)? = try take(.sealed(frontier.head)).first else {
            throw .leadershipEnded(.outOfTurn)
        }
        try write { try $0.commit(request, payload: payload) }
        state.withLock { $0.frontier = frontier }
        try proceed(after: .committed)
        return first
    }

    /// Executes a statement of the leader's.
    private func write(_ body: (SQLTransaction) throws -> Bool) throws(LogFailure) {
        let begin = ContinuousClock.now
        let wasOurs = try? link.writeNow(body)
        engines.meters.count(
            wasOurs.map { $0 ? .committed : .refused } ?? .unknown, lasting: ContinuousClock.now - begin)
        switch wasOurs {
        case true?: return
        case false?: _ = try take(.refused)
        // Whatever it was: what the log holds is for the next take-over to find out.
        case nil: _ = try take(.unknown)
        }
    }

    // MARK: Showing

    func nextSize(isWanted: Bool) throws(LogFailure) -> UInt64? {
        if let head = state.withLock({ $0.toShow }) { return head.size }
        guard isWanted else { return 0 }
        guard lease.mayWrite() else { throw .leadershipEnded(lease.end) }
        try proceed(after: .due)
        return state.withLock { $0.toShow }?.size ?? 0
    }

    var placesBeforeSigning: Bool { true }

    func write(_ tile: Tile, _ bytes: [UInt8]) throws(LogFailure) {
        try place(bytes, at: String(decoding: tile.path, as: UTF8.self))
    }

    func finishPlacing(_ head: TreeHead, bundle: [UInt8]) throws(LogFailure) {
        guard state.withLock({ $0.resting }) != head else { return }
        if !bundle.isEmpty { try place(bundle, at: SharedLogEngines.tailPath(head.size)) }
        _ = try take(.placed)
    }

    private func place(_ bytes: [UInt8], at path: String) throws(LogFailure) {
        try persisting { [engines] () async throws(ObjectFault) in try await engines.putCounted(bytes, at: path) }
        lease.madeStep()
    }

    func remember(_ checkpoint: PublishedCheckpoint, root: (UInt64) -> TreeHash?) throws(LogFailure) {
        guard state.withLock({ $0.resting }) != checkpoint.head else { return }
        try rememberAnew(checkpoint, root: root)
        lease.madeStep()
        state.withLock { $0.resting = checkpoint.head }
    }

    private func rememberAnew(
        _ checkpoint: PublishedCheckpoint, root: (UInt64) -> TreeHash?
    ) throws(LogFailure) {
        while true {
            let after = state.withLock { $0.memory }
            let outcome = try swap(checkpoint.bytes, after: after)
            switch outcome {
            case nil: _ = try take(.memoryUnknown, root: root)
            case .swapped(let tag)?:
                state.withLock { $0.memory = tag }
                _ = try take(.remembered, root: root)
                return
            case .changed(let object)?:
                let found = try head(of: object)
                state.withLock { $0.memory = object?.tag }
                if case .witness? = try take(.memoryHolds(found), root: root).first { return }
            }
        }
    }

    /// - Returns: nil if whether the memory was changed is not known.
    private func swap(_ bytes: [UInt8], after tag: ObjectTag?) throws(LogFailure) -> SwapOutcome? {
        let objects = engines.objects
        let outcome = waiting { () async -> Result<SwapOutcome, ObjectFault> in
            do throws(ObjectFault) {
                return .success(try await objects.swap(bytes, at: SharedLogEngines.signedPath, after: tag))
            } catch { return .failure(error) }
        }
        count(outcome)
        switch outcome {
        case .success(let outcome): return outcome
        case .failure(let fault) where fault.mayPass:
            try goOn(after: fault)
            return nil
        case .failure(let fault): throw .sharedStore(.unavailable("objects: \(fault)"))
        case nil: throw .leadershipEnded(.outcomeUnknown)
        }
    }

    private func count(_ outcome: Result<SwapOutcome, ObjectFault>?) {
        switch outcome {
        case .success(.swapped): engines.meters.count(.written)
        case .success(.changed): engines.meters.count(.changed)
        case .failure, nil: engines.meters.count(.failed)
        }
    }

    private func head(of object: StoredObject?) throws(LogFailure) -> TreeHead? {
        guard let object else { return nil }
        guard let checkpoint = engines.logSigned(object.bytes) else {
            throw .sharedStore(engines.refusal(of: object.bytes))
        }
        return checkpoint.head
    }

    /// What clients would not believe is published to nobody: such as what another clock's key has cosigned.
    func publish(_ checkpoint: PublishedCheckpoint, isWitnessed: Bool) throws(LogFailure) {
        guard checkpoint.head.size == 0 || engines.believed(checkpoint.bytes) != nil else {
            throw .sharedStore(.checkpointInvalid)
        }
        guard case .publish(_, let generation)? = try take(.witnessed).first else {
            throw .leadershipEnded(.outOfTurn)
        }
        try write { try $0.publish(checkpoint, by: generation) }
        try proceed(after: .published)
        announce(checkpoint)
    }

    /// For mirrors; nothing depends on it. Once they have the new checkpoint, nobody needs the tails of those before.
    private func announce(_ checkpoint: PublishedCheckpoint) {
        let size = checkpoint.head.size
        let old = state.withLock { state in
            let old = state.tails.filter { $0 != size }
            state.tails = old + [size]
            return old
        }
        let removed = waiting { [engines] in
            guard await engines.announce(checkpoint) else { return [UInt64]() }
            for size in old { try? await engines.objects.remove(SharedLogEngines.tailPath(size)) }
            return old
        }
        state.withLock { state in state.tails.removeAll { removed?.contains($0) == true } }
    }

    // MARK: Reading

    func bundle(_ tile: Tile) throws(DurableLogReadError) -> [UInt8] { try engines.bundle(tile) }

    func release() async {
        engines.meters.leads(false)
        await lease.end()
        link.close()
    }

    // MARK: Deciding

    private func take(
        _ event: LeaderEvent, root: (UInt64) -> TreeHash? = { _ in nil }
    ) throws(LogFailure) -> [LeaderAction] {
        do throws(LeadershipEnd) {
            return try state.withLock { (state) throws(LeadershipEnd) in
                try state.leadership.take(event, root: root)
            }
        } catch { throw .leadershipEnded(error) }
    }

    /// Takes an event after which another head may be to be shown.
    private func proceed(after event: LeaderEvent) throws(LogFailure) {
        do throws(LeadershipEnd) {
            try state.withLock { (state) throws(LeadershipEnd) in
                let actions = try state.leadership.take(event) { _ in nil }
                if event == .published {
                    (state.toShow, state.resting) = (nil, nil)
                    lease.hasShown()
                }
                for case .place(let head) in actions {
                    state.toShow = head
                    lease.madeStep()
                }
            }
        } catch { throw .leadershipEnded(error) }
    }

    /// Waits a little, unless who was asked last has waited, and demands that the lease is still ours.
    private func goOn(after fault: ObjectFault) throws(LogFailure) {
        if !fault.isPassing { _ = waiting { try? await Task.sleep(for: .milliseconds(100)) } }
        guard lease.mayWrite() else { throw .leadershipEnded(lease.end) }
    }

    /// Tries until it is done, as long as the lease is ours. Only of what may be done twice.
    private func persisting<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(ObjectFault) -> Value
    ) throws(LogFailure) {
        while true {
            let outcome = waiting { () async -> Result<Value, ObjectFault> in
                do throws(ObjectFault) { return .success(try await body()) } catch { return .failure(error) }
            }
            switch outcome {
            case .success: return
            case .failure(.contradiction(let path)): throw .sharedStore(.objectContradicts(path: path))
            case .failure(let fault) where fault.mayPass: try goOn(after: fault)
            case .failure(let fault): throw .sharedStore(.unavailable("objects: \(fault)"))
            case nil: throw .leadershipEnded(.outcomeUnknown)
            }
        }
    }
}

extension ObjectFault {
    /// Whether it is worth a retry while this process leads. A store that refuses is full, or takes this process's clock for wrong: that may
    /// pass, another candidate may not be refused, and whoever is gives the lease back before long. A process that stops and gives up asks nothing.
    fileprivate var mayPass: Bool {
        guard self != .refused(.closed) else { return false }
        return if case .refused = self { true } else { isPassing }
    }
}

extension SharedLogEngines {
    /// Puts an object that has one content for ever, and counts what became of it.
    fileprivate func putCounted(_ bytes: [UInt8], at path: String) async throws(ObjectFault) {
        do throws(ObjectFault) {
            meters.count(try await objects.putImmutable(bytes, at: path) == .written ? .written : .same)
        } catch {
            if case .contradiction = error { meters.count(.different) } else { meters.count(.failed) }
            throw error
        }
    }

    /// Puts a checkpoint where mirrors look, unless a larger one is there: a leader that was slow finds what came after it, and mirrors must
    /// not see the log shrink.
    ///
    /// - Returns: whether it is there.
    func announce(_ checkpoint: PublishedCheckpoint) async -> Bool {
        do throws(ObjectFault) {
            let current = try await objects.get(Self.checkpointPath)
            let there = current.flatMap { logSigned($0.bytes) }?.head.size ?? 0
            guard there <= checkpoint.head.size else { return false }
            let outcome = try await objects.swap(
                checkpoint.bytes, at: Self.checkpointPath, after: current?.tag, retry: .none)
            guard case .swapped = outcome else { return false }
            return true
        } catch { return false }
    }

    /// The bytes of a full bundle.
    func bundle(_ tile: Tile) throws(DurableLogReadError) -> [UInt8] {
        let (objects, path) = (objects, String(decoding: tile.path, as: UTF8.self))
        let found = waiting { (try? await objects.get(path)).flatMap { $0 } }
        guard let object = found.flatMap({ $0 }) else { throw .bundleUnavailable(index: tile.index) }
        return object.bytes
    }
}
