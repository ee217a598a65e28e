// SPDX-License-Identifier: Apache-2.0

import Foundation
import FrameRelay
import KeyDirectory
import KeyTransparency
import LogEngine
import Logging
import ServiceLifecycle
import SharedLog
import SignalBroker
import SignetAPI
import SignetServer
import Synchronization
import TransparencyLog
import UnixSignals

// A directory that several machines share.
extension Run {
    /// - Returns: nil if the directory is of one machine.
    func sharedEngines() async throws -> SharedEngines? {
        do { return try await SharedEngines.open(DataDirectory(path: data.data)) } catch {
            throw Diagnostics.exit(error)
        }
    }

    func runShared(
        _ engines: SharedEngines, _ configuration: HTTPSServer.Configuration,
        _ registration: (policy: RegistrationPolicy, keys: TokenKeys?)?,
        _ level: LevelInForce, _ logger: Logger
    ) async throws {
        let lock = try hold()
        defer { withExtendedLifetime(lock) {} }
        let place = DataDirectory(path: data.data)
        // A directory file that cannot be read ends the start further on, in words.
        if let profile = try? StoredDirectory.readProfile(place) {
            let sequences = roles.contains(.sequence)
            for remark in SharedStartRemarks.of(place, profile.trust.policy, sequences: sequences) {
                logger.warning("\(remark)")
            }
        }
        let sequencer = Sequencer(place, engines, try sequencing(), logger: logger)
        guard roles.contains(.serve) else {
            return try await sequence(sequencer, engines, configuration, level, logger)
        }
        let failure = FirstFailure()
        let task = roles.contains(.sequence) ? Task { await failure.watch(sequencer, logger) } : nil
        do { try await serveShared(engines, configuration, registration, level, logger) } catch {
            task?.cancel()
            await task?.value
            throw error
        }
        task?.cancel()
        await task?.value
        if let error = failure.error { throw Diagnostics.exit(error) }
    }

    /// Keeps a second process out of this data directory: `state/` and the administration socket are of one.
    private func hold() throws -> any LogDirectoryLock {
        do throws(LogOpenError) { return try LogCopy(of: data.data).hold() } catch {
            throw Diagnostics.exit(StoredDirectoryError.directory(.log(error)))
        }
    }

    private func sequencing() throws -> Sequencer.Options {
        var options = Sequencer.Options()
        options.epochInterval = .milliseconds(epoch)
        options.heartbeat = UInt64(heartbeat)
        // Front ends wait for the next checkpoint before some steps of a recovery.
        options.republishing = .seconds(min(republish, max(heartbeat, 1), 5))
        options.witnessRoots = try roots()
        options.disregarded = try newest.disregarded.names(in: DataDirectory(path: data.data))
        options.keepsState = !roles.contains(.serve)
        options.words = { Verdict($0).sentence }
        return options
    }

    /// Stands by and leads, and answers nobody.
    private func sequence(
        _ sequencer: Sequencer, _ engines: SharedEngines, _ configuration: HTTPSServer.Configuration,
        _ level: LevelInForce, _ logger: Logger
    ) async throws {
        let reload = ConfigurationReload(self, nil, level, logger)?.begin()
        defer { reload?.cancel() }
        let failure = FirstFailure()
        let monitoring: [any Service]
        do { monitoring = try self.monitoring(engines, configuration, logger) } catch { throw Diagnostics.exit(error) }
        Diagnostics.printLine("standing by")
        SystemdNotification.listening()
        let service = SequencerService(sequencer: sequencer, failure: failure, logger: logger) {
            SystemdNotification.stopping()
            Diagnostics.endProcess(after: SharedEngines.grace + .seconds(5))
            Task { await engines.giveUpAfterGrace(onGivingUp: { Self.tellOfGivingUp(logger) }) }
        }
        let group = ServiceGroup(
            configuration: .init(
                services: monitoring + [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        var stop: ServerStop?
        do { try await group.run() } catch { stop = error as? ServerStop }
        if let error = failure.error { throw Diagnostics.exit(error) }
        if let stop { throw Diagnostics.exit(stop) }
        logger.info("stopped")
    }

    private static func tellOfGivingUp(_ logger: Logger) {
        logger.warning("gives up what it asks database and object store; nothing of that was acknowledged")
    }

    /// What operators see of a process that only sequences, if they have named an address.
    private func monitoring(
        _ engines: SharedEngines, _ configuration: HTTPSServer.Configuration, _ logger: Logger
    ) throws -> [any Service] {
        guard let address = configuration.monitoring else { return [] }
        let watch = try engines.watch(DataDirectory(path: data.data))
        return SequencerMonitoring(
            watch, at: address, folder: data.data, interval: configuration.republishInterval, logger: logger
        ).services
    }

    private func serveShared(
        _ engines: SharedEngines, _ configuration: HTTPSServer.Configuration,
        _ registration: (policy: RegistrationPolicy, keys: TokenKeys?)?,
        _ level: LevelInForce, _ logger: Logger
    ) async throws {
        var configuration = configuration
        let place = DataDirectory(path: data.data)
        let stored: StoredDirectory
        let follower: LogFollower
        do {
            (stored, follower) = try await StoredDirectory.serve(
                place, engines, identity: try identity(), logger: logger
            ) {}
            try stored.requireGoingOn()
            configuration.marks = try StoredNotes.limitsStore(engines)
        } catch { throw Diagnostics.exit(error) }
        configuration.lag = { follower.lag }
        do { configuration.sharedLog = try engines.watch(place, logger: logger) } catch {
            throw Diagnostics.exit(error)
        }
        configuration.sharedLog?.compare { follower.log.published.head.size }
        let watching = Task { [watch = configuration.sharedLog] in await watch?.run() }
        defer { watching.cancel() }
        configuration.registration = registration.map {
            RegistrationDesk($0.policy, keys: $0.keys, origin: stored.directory.origin, logger: logger)
        }
        let fault = FirstFailure()
        let following = Task {
            await follower.run { found in
                switch found {
                case .unavailable: return true
                case .shrinks:
                    logger.warning("an older copy of the database answers")
                    return true
                // A row that somebody else wrote: what was shown stays, and is old after a while.
                case .checkpointInvalid, .rowDamaged:
                    logger.warning("what the database names as published is not", metadata: ["why": "\(found)"])
                    return true
                default: break
                }
                logger.error("the log cannot be followed", metadata: ["why": "\(found)"])
                fault.note(.shared(SharedSetupError(SharedDirectoryError.log(.fault(found)))))
                return false
            }
        }
        defer { following.cancel() }
        let parts: [any PartAnswering]
        let server: HTTPSServer
        do {
            let tls = try ServerTLS(stored.identity)
            let signals = try exchange(engines, stored, logger)
            let relay = try await relay(
                configuration, of: stored, sharing: stored.shared.map { SharedTickets($0) }, logger)
            let calls = CallAnswering(signals, relay: relay, ports: relays.numbers)
            parts =
                try await StandardParts.open(
                    place, beside: stored, switching: tls, own: ownIdentity, login: login, quota: quota.byteCount,
                    explorer: configuration.explorer, logger: logger) + [calls]
            server = HTTPSServer(
                answering: DirectoryAdapter(stored.directory), and: parts, signals: signals, as: tls,
                administration: administration(stored.directory, parts, logger), configuration: configuration,
                logger: logger)
        } catch { throw Diagnostics.exit(error) }
        let reload = ConfigurationReload(self, server, level, logger)?.begin()
        let (drain, words) = (configuration.limits.drain, logger)
        try await serve(
            server, configuration, logger, grace: SharedEngines.grace,
            stopping: {
                Task {
                    await engines.giveUpAfterGrace(
                        draining: drain, lag: { follower.lag }, onGivingUp: { Self.tellOfGivingUp(words) })
                }
            }, found: { fault.error })
        reload?.cancel()
        for part in parts { await part.close() }
        await stored.directory.close()
        logger.info("stopped")
    }
}

extension Run {
    /// What carries the signals: that of all front ends if there is a bus for it, and otherwise one for this process alone.
    private func exchange(
        _ engines: SharedEngines, _ stored: StoredDirectory, _ logger: Logger
    ) throws -> any SignalExchange {
        guard let signals, let secret = stored.shared else {
            return try StoredSignals.open(DataDirectory(path: data.data))
        }
        return try StoredSignals.share(engines, secret, over: BrokerFile(at: signals), logger: logger)
    }
}

/// Why a sequencer has ended, if a person has to decide; or why a front end cannot follow the log.
private final class FirstFailure: Sendable {
    private let found = Mutex<StoredDirectoryError?>(nil)

    var error: StoredDirectoryError? { found.withLock { $0 } }

    func note(_ error: StoredDirectoryError) { found.withLock { $0 = $0 ?? error } }

    /// Runs a sequencer. What it ends with is told at once: front ends go on answering meanwhile.
    func watch(_ sequencer: Sequencer, _ logger: Logger) async {
        do { try await sequencer.run() } catch {
            found.withLock { $0 = error }
            logger.critical("does not lead: a person has to decide", metadata: ["why": "\(Verdict.of(error).sentence)"])
        }
    }
}

private struct SequencerService: Service {
    let sequencer: Sequencer
    let failure: FirstFailure
    let logger: Logger
    /// Called when the process was told to stop.
    let onStopping: @Sendable () -> Void

    func run() async throws {
        await withGracefulShutdownHandler {
            await cancelWhenGracefulShutdown { await failure.watch(sequencer, logger) }
        } onGracefulShutdown: {
            onStopping()
        }
    }
}
