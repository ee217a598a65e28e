// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import LogFencing
import LogWitness
package import Logging
package import NoteStore
import ObjectStores
import Platform
import SQLStores
package import SharedLog
import SignetAPI
import TransparencyLog

/// Makes the objects of a shared log again from the frames in its database, and counts the files of notes that are lost.
package struct SharedObjectsRepair: Sendable {
    /// What was done.
    package struct Report: Sendable {
        /// The objects of the log.
        package let objects: ObjectsReport
        /// Pieces of files of notes, which nothing here can make again; nil if they could not be counted.
        package let lost: LostNoteFiles?
    }

    private let data: DataDirectory
    private let engines: SharedEngines
    private let request: ObjectsRequest
    private let roots: [UInt8]
    private let logger: Logger

    /// - Parameter witnessRoots: certificates to trust beside the system's when asking witnesses, PEM.
    package init(
        _ data: DataDirectory, _ engines: SharedEngines, _ request: ObjectsRequest, witnessRoots: [UInt8] = [],
        logger: Logger
    ) {
        self.data = data
        self.engines = engines
        self.request = request
        self.logger = logger
        roots = witnessRoots
    }

    /// - Throws: ``ObjectsRepairError``.
    package func run() async throws(ObjectsRepairError) -> Report {
        let (policy, keys): (Policy, DirectoryKeys)
        do throws(StoredDirectoryError) { (policy, keys) = try read() } catch { throw .stored(error) }
        try await requireHome()
        let objects = try await makeObjects(policy, keys)
        return Report(objects: objects, lost: await lostFiles())
    }

    private func requireHome() async throws(ObjectsRepairError) {
        guard let mark = engines.file[.home] else { return }
        let isOurs: Bool
        do throws(ObjectFault) { isOurs = try await BucketHome(engines.objects).putBack(mark) } catch {
            throw .end(.candidacy(.fault(.unavailable("objects: \(error)"))))
        }
        guard isOurs else {
            throw .engines(.otherBucket(engines.file[.bucket] ?? "", prefix: engines.file[.prefix] ?? ""))
        }
    }

    private func read() throws(StoredDirectoryError) -> (Policy, DirectoryKeys) {
        try StoredDirectory.requireNoneInterrupted(data)
        let profile = try StoredDirectory.readProfile(data)
        let keys = try StoredDirectory.readTrustedKeys(data, profile, logger: logger)
        try StoredDirectory.check(witnessRoots: roots, for: profile)
        return (profile.trust.policy, keys)
    }

    private func makeObjects(
        _ policy: Policy, _ keys: DirectoryKeys
    ) async throws(ObjectsRepairError) -> ObjectsReport {
        let (log, link, facts): (SharedLogEngines, any SQLDatabase, DatabaseFacts)
        do throws(SharedEnginesError) {
            log = try engines.log(policy, keys.log.verifierKey.name)
            (link, facts) = try await engines.link()
        } catch { throw .engines(error) }
        defer { log.database.close() }
        let holder = SharedEngines.holder("objects")
        let configuration = LogConfiguration(
            signer: keys.log, cosigners: keys.cosigners, clock: ServerClock.system.time)
        var request = request
        request.shown = KeptFrames.shown(in: POSIXFileSystem(root: data.state))
        do throws(ObjectsRepairEnd) {
            return try await log.makeDirectoryObjects(
                over: link, (facts, engines.demands), configuration, request, holder: holder, history: data.history,
                steady: StoredDirectory.steadyClock()
            ) { await words(of: policy, on: $0) }
        } catch { throw .end(error) }
    }

    /// What the witnesses say who answer.
    private func words(of policy: Policy, on asked: PublishedCheckpoint) async -> [Policy.Name: WitnessWord] {
        await SharedEngines.witnesses(of: policy, on: asked.note, asked.head, roots: roots, logger: logger)
            .compactMapValues(WitnessWord.init)
    }

    private func lostFiles() async -> LostNoteFiles? {
        do {
            let database = try engines.database(NoteArchive.schema, count: 1)
            defer { database.close() }
            return try await NoteObjects.lost(of: database, in: engines.objects)
        } catch {
            logger.warning("files of notes were not counted", metadata: ["why": "\(error)"])
            return nil
        }
    }
}

extension WitnessWord {
    /// The word of a witness; nil if it was not reached, or says nothing of what it cosigned.
    init?(_ memory: WitnessMemory) {
        switch memory {
        case .ahead(let size), .notAhead(let size, _): self = .knows(size: size)
        case .otherTree: self = .otherTree
        case .unknown: return nil
        }
    }
}

/// Why the objects of a shared log were not made again.
package enum ObjectsRepairError: Error, Sendable {
    /// The data directory was not read.
    case stored(StoredDirectoryError)
    /// The engines were not connected.
    case engines(SharedEnginesError)
    /// The log was not claimed, or what is found does not allow it.
    case end(ObjectsRepairEnd)
}
