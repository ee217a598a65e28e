// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import LogFencing
import LogWitness
package import Logging
import ObjectStores
import Platform
import S3Stores
import SQLStores
import SharedLog
import SignetAPI
package import TransparencyLog

/// The process, or the part of one, that writes the log of a shared directory whenever nobody else does.
///
/// It stands by until the lease is free, with the log in memory as a front end has it, takes the log over, logs what the front ends have
/// accepted, and stands by again when it leads no more. It answers no client.
package struct Sequencer: Sendable {
    /// How it leads.
    package struct Options: Sendable {
        /// The least time between two epochs, unless a full batch of changes waits.
        package var epochInterval = Duration.seconds(1)
        /// After this many seconds without an epoch, one ends even if it has no changes.
        package var heartbeat = Directory.standardHeartbeat
        /// How often the checkpoint is signed again.
        package var republishing = Duration.seconds(60)
        /// Root certificates of witnesses beside the system's, PEM.
        package var witnessRoots: [UInt8] = []
        /// Witnesses whose word of what they cosigned does not count when this process takes the log over.
        package var disregarded: Set<Policy.Name> = []
        /// How long to wait before the lease is looked at again.
        package var standby = Duration.milliseconds(200)
        /// Whether this part of the process keeps the log's frames and a snapshot of the index in the folder of state, for its next start. A front
        /// end beside it does that instead.
        package var keepsState = true
        /// What a log line says of why this process does not lead, or leads without its parts.
        package var words: @Sendable (any Error) -> String = { "\($0)" }
        /// Opens the parts that log something.
        var open: @Sendable (DataDirectory, StoredDirectory, Logger) async throws -> [any PartAnswering] = {
            try await StandardParts.open($0, beside: $1, logger: $2)
        }

        package init() {}
    }

    private let data: DataDirectory
    private let engines: SharedEngines
    private let options: Options
    private let logger: Logger

    package init(_ data: DataDirectory, _ engines: SharedEngines, _ options: Options, logger: Logger) {
        self.data = data
        self.engines = engines
        self.options = options
        self.logger = logger
    }

    /// Leads and stands by in turns until the task is cancelled.
    ///
    /// - Throws: ``StoredDirectoryError``: a person has to decide. Nothing was signed by the one who found that.
    package func run() async throws(StoredDirectoryError) {
        var remarks = Remarks()
        var turns = CandidateTurns()
        var standing: Standing?
        var hasStoodBy = false
        while !Task.isCancelled {
            do throws(StoredDirectoryError) {
                try await leadOnce(&standing, &hasStoodBy, &turns, &remarks)
                remarks.forget()
            } catch {
                if Task.isCancelled, error.isStopped { break }
                guard error.isPassing, hasStoodBy || !error.isTurnedAway else { throw error }
                remarks.tell(error, in: options.words, logger)
            }
            try? await Task.sleep(for: options.standby)
        }
        await standing?.end()
    }

    /// What a process has that stands by: the log in memory, and for whom it would lead.
    private struct Standing {
        let profile: DirectoryProfile
        let shared: FrontEndSecret
        let place: SharedDirectory
        let replica: DirectoryReplica

        func end() async {
            await replica.close()
            place.close()
        }
    }

    private func standBy(_ profile: DirectoryProfile) async throws(StoredDirectoryError) -> Standing {
        // Who cannot lead is no help when the one that leads is gone.
        _ = try StoredDirectory.readTrustedKeys(data, profile, logger: logger)
        let shared = try StoredDirectory.readSharedSecret(data, isNeeded: true) ?? FrontEndSecret()
        let place = try StoredDirectory.place(
            data, engines, profile, shared, keepsState: options.keepsState, logger)
        do throws(SharedDirectoryError) {
            let replica = try await place.follow(steady: Self.steady)
            logger.info("stands by", metadata: ["size": "\(replica.size)"])
            return Standing(profile: profile, shared: shared, place: place, replica: replica)
        } catch {
            place.close()
            throw .shared(SharedSetupError(error))
        }
    }

    /// Stands by until the lease is free, leads, and returns when that is over.
    ///
    /// - Parameters:
    ///   - standing: what is in memory already; what still is when this returns or throws.
    ///   - hasStoodBy: whether there was something in memory since the start.
    private func leadOnce(
        _ standing: inout Standing?, _ hasStoodBy: inout Bool, _ turns: inout CandidateTurns, _ remarks: inout Remarks
    ) async throws(StoredDirectoryError) {
        let profile = try StoredDirectory.readProfile(data)
        // Keys or witnesses are other ones by now, or it was led by this.
        if let old = standing, old.profile != profile || old.replica.isOver {
            await old.end()
            standing = nil
        }
        let now: Standing
        if let standing { now = standing } else { now = try await standBy(profile) }
        (standing, hasStoodBy) = (now, true)
        while try await !mayLead(now, turns, &remarks) {
            do throws(StoredDirectoryError) { try await keepUp(now.replica, &remarks) } catch {
                // By other keys or witnesses it may be the log all the same.
                guard try StoredDirectory.readProfile(data) == profile else { return }
                throw error
            }
            try? await Task.sleep(for: options.standby)
            if Task.isCancelled { return }
        }
        let turn = LeaderTurn(patience: turns.patience)
        defer { turns.end(isStuck: turn.end == .unshown, hasShown: turn.hasShown, at: Self.steady()) }
        let (ends, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let stored = try await takeOver(now, turn) { end.yield() }
        logger.notice("leads", metadata: ["size": "\(stored.directory.log.published.head.size)"])
        await lead(stored, by: now.replica, until: ends)
        standing = nil
        now.place.close()
        logger.notice("leads no more", metadata: turn.end.map { ["why": "\($0)"] } ?? [:])
    }

    private func mayLead(
        _ now: Standing, _ turns: CandidateTurns, _ remarks: inout Remarks
    ) async throws(StoredDirectoryError) -> Bool {
        let sight = await now.place.look(holder: holder, steady: Self.steady)
        if let clock = sight.clock { remarks.tell(clock, logger) }
        guard sight.mayTry, turns.mayTry(at: Self.steady()) else { return false }
        do throws(SharedDirectoryError) { try await now.place.reachesMemory(holder: holder, steady: Self.steady) } catch
        {
            throw .shared(SharedSetupError(error))
        }
        return true
    }

    /// Keeps the log in memory at what is published.
    ///
    /// - Throws: ``StoredDirectoryError``: what the database shows is not the log that is in memory.
    private func keepUp(_ replica: DirectoryReplica, _ remarks: inout Remarks) async throws(StoredDirectoryError) {
        do throws(SharedLogFault) { try await replica.step() } catch {
            let failure = StoredDirectoryError.shared(SharedSetupError(SharedDirectoryError.log(.fault(error))))
            switch error {
            // An older copy of the database answers, or none, or a row that somebody else wrote: the claim would find that, too.
            case .unavailable, .shrinks, .checkpointInvalid, .rowDamaged:
                remarks.tell(failure, in: options.words, logger)
            default: throw failure
            }
        }
    }

    private static let steady = StoredDirectory.steadyClock()

    // MARK: Taking over

    private func takeOver(
        _ standing: Standing, _ turn: LeaderTurn, onFatal: @escaping @Sendable () -> Void
    ) async throws(StoredDirectoryError) -> StoredDirectory {
        let profile = standing.profile
        let keys = try StoredDirectory.readTrustedKeys(data, profile, logger: logger)
        let identity = try StoredDirectory.readIdentity(data, pinnedBy: profile.pins)
        let witnessing: WitnessedPublishing?
        do throws(WitnessRootsError) {
            witnessing = try WitnessedPublishing(
                profile.trust.policy, additionalRoots: options.witnessRoots, clock: ServerClock.system.time,
                logger: logger)
        } catch { throw .witnessRoots(error) }
        let (link, facts): (any SQLDatabase, DatabaseFacts)
        do throws(SharedEnginesError) { (link, facts) = try await engines.link() } catch {
            throw .shared(SharedSetupError(error))
        }
        let directory: Directory
        do throws(SharedDirectoryError) {
            directory = try await standing.place.lead(
                keys, over: link, (facts, engines.demands), holder: holder, from: standing.replica,
                turn: turn, epochInterval: options.epochInterval,
                heartbeat: options.heartbeat, witnessing: witnessing,
                others: {
                    await SharedEngines.seen(
                        by: profile.trust.policy, beyond: $0, roots: options.witnessRoots,
                        disregarding: options.disregarded, logger: logger)
                },
                steady: Self.steady, onFatal: onFatal)
        } catch { throw .shared(SharedSetupError(error)) }
        return StoredDirectory(
            profile: profile, directory: directory, identity: identity, witnesses: witnessing?.progress,
            shared: standing.shared, engines: engines, watch: nil)
    }

    /// Of this start of this process on this machine.
    private let holder = SharedEngines.holder()

    // MARK: Leading

    private func lead(_ stored: StoredDirectory, by replica: DirectoryReplica, until ends: AsyncStream<Void>) async {
        let directory = stored.directory
        // Not in the group: what a part has begun may take minutes, and the lease is given back before that ends.
        let parts = Task { await keepParts(beside: stored) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await directory.sequence { error in
                    logger.warning("what waits was not logged", metadata: ["why": "\(error)"])
                    if case .databaseAway = error { return true }
                    return false
                }
            }
            group.addTask { await republish(directory) }
            group.addTask { await replica.keepShown(of: directory) }
            group.addTask { for await _ in ends { return } }
            await group.next()
            group.cancelAll()
        }
        parts.cancel()
        await directory.close()
        await parts.value
    }

    /// Signs the checkpoint again until the task is cancelled.
    private func republish(_ directory: Directory) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: options.republishing)
            if Task.isCancelled { return }
            do throws(LogWaitError) { try await directory.republish() } catch {
                if error == .stopped { return }
            }
        }
    }

    /// Opens the parts, as often as it takes, and has them do what is due until the task is cancelled.
    private func keepParts(beside stored: StoredDirectory) async {
        var parts: [any PartAnswering]?
        while !Task.isCancelled {
            if parts == nil { parts = await opened(beside: stored) }
            for part in parts ?? [] where !Task.isCancelled { await part.keepUp() }
            try? await Task.sleep(for: options.republishing)
        }
        for part in parts ?? [] { await part.close() }
        engines.meters.parts(missing: nil)
    }

    /// - Returns: nil if they could not be opened, which is said once in a row for each reason.
    private func opened(beside stored: StoredDirectory) async -> [any PartAnswering]? {
        do {
            let parts = try await options.open(data, stored, logger)
            engines.meters.parts(missing: nil)
            return parts
        } catch {
            let reason = options.words(error)
            if engines.meters.parts(missing: reason) != reason, !Task.isCancelled {
                logger.error(
                    "neither pins nor notes nor the keys of cards are logged; trying again",
                    metadata: ["why": "\(reason)"])
            }
            return nil
        }
    }
}

/// What was said of why this process does not lead: each reason once in a row, and nothing of another one that does.
private struct Remarks {
    private var last = ""
    private var clock = ClockRemarks()

    /// Another turn begins.
    mutating func forget() { last = "" }

    mutating func tell(_ difference: ClockDifference, _ logger: Logger) { clock.tell(difference, logger) }

    mutating func tell(
        _ error: StoredDirectoryError, in words: @Sendable (any Error) -> String, _ logger: Logger
    ) {
        if case .shared(let setup) = error, case .directory(.candidacy(.ended(.othersLead))) = setup.cause { return }
        let reason = words(error)
        guard reason != last else { return }
        last = reason
        logger.warning("does not lead, and tries again", metadata: ["why": "\(reason)"])
    }
}

extension StoredDirectoryError {
    /// Whether the same process may open it later, without anything that a person would have to decide.
    fileprivate var isPassing: Bool { if case .shared(let error) = self { error.isPassing } else { false } }

    /// Whether the database does not let this process in: a wrong `engines`, if it never has.
    fileprivate var isTurnedAway: Bool { if case .shared(let error) = self { error.isTurnedAway } else { false } }

    /// Whether the log took no more, as when whoever waits for what it publishes is told to stop.
    fileprivate var isStopped: Bool {
        guard case .shared(let error) = self, case .directory(.directory(.logStopped)) = error.cause else {
            return false
        }
        return true
    }
}
