// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import KeyDirectory
import LogEngine
import LogFencing
import LogWitness
import NoteStore
import ObjectStores
import ObjectTesting
import SharedLog
import SignetAPI
import Testing
import TransparencyLog

@testable import SignetServer

struct WitnessWordTests {
    @Test func onlyWhatAWitnessSaysOfItsCosignaturesCounts() {
        #expect(WitnessWord(.ahead(size: 7)) == .knows(size: 7))
        #expect(WitnessWord(.notAhead(size: 0, at: nil)) == .knows(size: 0))
        #expect(WitnessWord(.otherTree) == .otherTree)
        #expect(WitnessWord(.unknown(.refused(.unknownLog))) == nil)
    }
}

/// A directory on a real PostgreSQL whose bucket is emptied.
@Suite(
    .enabled(
        if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("a bucket that is emptied"),
        "There is no PostgreSQL 15 here."))
struct SharedObjectsRepairTests {
    @Test func anEmptiedBucketIsFilledAgain_andLostFilesAreCounted() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await directory.lead()
            for path in try await directory.objects.list("") { try await directory.objects.remove(path) }
            guard case StoredDirectoryError.shared(let error)? = try await directory.leadingError(),
                case .directory(.candidacy(.ended(.memoryBehind(nil, _)))) = error.cause
            else {
                Issue.record("It led.")
                return
            }
            var request = ObjectsRequest()
            do {
                _ = try await SharedObjectsRepair(data, try directory.engines(), request, logger: silent).run()
                Issue.record("Nobody has confirmed it.")
            } catch {
                guard case .end(.unconfirmed(silent: [])) = error as? ObjectsRepairError else { throw error }
            }
            request.acceptsUnconfirmed = true
            let report = try await SharedObjectsRepair(data, try directory.engines(), request, logger: silent).run()
            #expect(report.objects.hasNewMemory && report.objects.made == 3)
            #expect(report.lost == LostNoteFiles(pieces: 3, files: 1, accounts: 1))
            try await directory.lead()
        }
    }

    /// Bucket and database were put back together. What this machine has shown is in its folder `state`, and nobody vouches against that.
    @Test func whatThisMachineHasShownIsNotSignedOver() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await directory.lead()
            let keys = try StoredDirectory.readTrustedKeys(data, try StoredDirectory.readProfile(data))
            let shown = TreeHead(size: 1000, root: .emptyTree)
            let note = try LogConfiguration(signer: keys.log, cosigners: [], clock: { 1_800_000_000 }).sign(shown)
            try FileManager.default.createDirectory(atPath: data.state, withIntermediateDirectories: true)
            try Data(note.bytes).write(to: URL(filePath: data.state + "/checkpoint.published"))
            var request = ObjectsRequest()
            request.acceptsUnconfirmed = true
            do {
                _ = try await SharedObjectsRepair(data, try directory.engines(), request, logger: silent).run()
                Issue.record("It signed less than this machine has shown.")
            } catch {
                guard
                    case .end(.candidacy(.ended(.conflict(.databaseBehind(let seen, _))))) = error
                        as? ObjectsRepairError
                else { throw error }
                #expect(seen == SeenHead(shown, in: .thisMachine))
            }
        }
    }
}
