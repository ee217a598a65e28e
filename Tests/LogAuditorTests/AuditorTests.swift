// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import LogAuditor
import ProtocolTesting
import Synchronization
import Testing
import TransparencyLog

@Suite struct AuditorTests {
    let folder: TemporaryFolder
    let log: ForgedLog
    let source = ServedLog()

    init() throws {
        folder = try TemporaryFolder()
        log = try ForgedLog()
    }

    func auditor(_ name: String = "state", at now: UInt64 = ForgedLog.now) throws -> Auditor {
        try Auditor(
            of: log.policy(), at: source, keeping: AuditFolder(path: folder.below(name)), clock: { now })
    }

    /// The error that the auditor throws.
    func failure(_ body: () async throws(AuditorError) -> Void) async -> AuditorError? {
        do {
            try await body()
            return nil
        } catch { return error }
    }

    @Test func anHonestLogIsSoundAfterEachGrowth() async throws {
        let auditor = try auditor()
        for round in 0..<4 {
            try log.grow(epochs: 3, people: 40, from: UInt64(round * 100))
            try source.serve(log)
            let sound = try await auditor.auditPublished()
            #expect(sound.checkpoint.head == (try log.tree.head(size: log.size)))
            #expect(await auditor.isSound(sound.checkpoint.head))
        }
        #expect(await auditor.lastEpoch == 12)
    }

    @Test func anEmptyLogIsSound() async throws {
        try source.serve(log)
        let auditor = try auditor()
        #expect(try await auditor.auditPublished().checkpoint.head == .empty)
    }

    @Test(arguments: ForgedFault.allCases) func eachFaultIsFoundAndStillReportedAfterARestart(
        _ fault: ForgedFault
    ) async throws {
        try log.grow(epochs: 2, people: 150)
        try source.serve(log)
        do {
            let auditor = try auditor()
            _ = try await auditor.auditPublished()
            try log.commit(fault)
            try source.serve(log)
            let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
            #expect(found?.claim == fault.name.rawValue)
            let head = try log.tree.head(size: log.size)
            #expect(await !auditor.isSound(head))
        }
        // After a restart, although the log now serves an honest history.
        let honest = try ForgedLog()
        try honest.grow(epochs: 2, people: 150)
        try source.serve(honest)
        let again = try auditor()
        let found = await failure { () throws(AuditorError) in try await again.resume() }
        #expect(found?.claim == fault.name.rawValue)
        let still = await failure { () throws(AuditorError) in _ = try await again.auditPublished() }
        #expect(still?.claim == fault.name.rawValue)
    }

    @Test(arguments: ForgedFault.allCases) func theKeptEvidenceIsAcceptedByAnotherVerifier(
        _ fault: ForgedFault
    ) async throws {
        try log.grow(epochs: 2, people: 3)
        try log.commit(fault)
        try source.serve(log)
        let auditor = try auditor()
        guard
            case .guilty(let guilt) = await failure({ () throws(AuditorError) in _ = try await auditor.auditPublished()
            }),
            case .rule(let rule) = try Evidence(decoding: Array(Data(contentsOf: URL(filePath: guilt.path))))
        else { throw EvidenceError.unknownClaim }
        let verifier = EvidenceVerifier(policy: try log.policy())
        if fault.isShownByEntries {
            #expect(throws: Never.self) { try verifier.verify(.rule(rule)) }
        } else {
            // Another auditor's folder is a mirror: with its entries the evidence stands without the log.
            var audit = CheckpointAudit()
            let mirror = FolderLogSource(path: folder.below("state"))
            let tile = try Tile(.entries, index: 0, width: Int(log.size))
            let bundle = try #require(try await mirror.file(tile.path, maximumByteCount: 1 << 20))
            for entry in try EntryBundle(decoding: bundle, width: tile.width).entries { audit.add(entry) }
            let head = try log.tree.head(size: log.size)
            #expect(audit.finding(at: head) != .sound)
            do { _ = try verifier.verify(rule, entries: audit) } catch { Issue.record(error) }
        }
    }

    /// A new successor has no past of its own: an auditor of the former log knows when that one still published.
    @Test(arguments: [(UInt64(3600), true), (3601, false)])
    func audit_refusesASuccessorDatedBeforeTheLastEpochOfTheFormerLog(seconds: UInt64, isSound: Bool) async throws {
        let own = AuditFolder.below(folder.path, for: log.signer.verifierKey.keyID)
        try log.grow(epochs: 1, people: 3)
        try handOver()
        try source.serve(log)
        do {
            let auditor = try Auditor(of: log.policy(), at: source, keeping: own, clock: { ForgedLog.now })
            _ = try await auditor.auditPublished()
        }
        // The last epoch of the log ended at now + 2, the first one of its successor ends a second after its beginning.
        let successor = try ForgedLog(origin: "next.example/log", seed: 2, from: ForgedLog.now + 1 - seconds)
        try successor.add(PredecessorRecord(note: log.checkpoint()).entry)
        try successor.closeEpoch()
        successor.letTimePass(seconds)
        try successor.grow(epochs: 1, people: 3)
        try source.serve(successor)
        let next = AuditFolder.below(folder.path, for: successor.signer.verifierKey.keyID)
        let former = FormerAudit.all(in: folder.path, besides: next)
        #expect(former.count == 1)
        for known in [former, []] {
            let error = await failure { () async throws(AuditorError) in
                let policy: Policy
                do { policy = try successor.policy() } catch { throw .otherLog }
                let auditor = try Auditor(
                    of: policy, at: source, keeping: AuditFolder(path: folder.below("next-\(known.count)")),
                    former: known, clock: { ForgedLog.now })
                _ = try await auditor.auditPublished()
            }
            #expect(error == (known.isEmpty || isSound ? nil : .firstEpoch(.behind(seconds: 3601))))
        }
    }

    /// Ends the log: its last record names another one, and only an epoch follows.
    private func handOver() throws {
        try log.add(log.succession(.log, number: 1).entry)
        try log.closeEpoch()
    }

    /// Audits what the source serves as the log of a policy, in a folder of that name.
    private func audit(
        _ audited: ForgedLog, in name: String, after former: [String] = [], at now: UInt64
    ) async throws -> AuditorError? {
        try source.serve(audited)
        let (policy, place) = (try audited.policy(), AuditFolder(path: folder.below(name)))
        let known = former.compactMap { FormerAudit(AuditFolder(path: folder.below($0))) }
        #expect(known.count == former.count)
        return await failure { () async throws(AuditorError) in
            let auditor = try Auditor(of: policy, at: source, keeping: place, former: known, clock: { now })
            try await auditor.resume()
            let sound = try await auditor.auditPublished()
            #expect(await auditor.isSound(sound.checkpoint.head))
        }
    }

    /// A successor that names the end of the log, or an earlier size of it, and dates its first epoch to a time.
    private func successor(at size: UInt64? = nil, from start: UInt64) throws -> ForgedLog {
        let successor = try ForgedLog(origin: "next.example/log", seed: 2, from: start)
        try successor.add(PredecessorRecord(note: log.checkpoint(size: size)).entry)
        try successor.grow(epochs: 1, people: 3)
        return successor
    }

    /// The attack: the log continues for a day after its last audit, and hands over to one that dates a request back to
    /// that day.
    @Test(arguments: [10, UInt64(Tile.fullWidth), UInt64(Tile.fullWidth) + 1, UInt64(Tile.fullWidth) + 2])
    func audit_refusesASuccessorWhoseNamedEndIsBeyondTheFormerAudit(end size: UInt64) async throws {
        let now = ForgedLog.now + 86_400
        try log.grow(epochs: 1, people: 1)
        #expect(try await audit(log, in: "old", at: ForgedLog.now) == nil)
        log.letTimePass(86_400)
        while log.size < size - 3 { try log.add(log.device(of: 0)) }
        try log.add(log.nextState(of: 0).entry)
        try handOver()
        let (dated, honest) = (try successor(from: ForgedLog.now + 10), try successor(from: now))
        dated.letTimePass(86_400)
        try dated.grow(epochs: 1, people: 3, from: 10)
        for next in [dated, honest] {
            #expect(
                try await audit(next, in: "next", after: ["old"], at: now) == .formerEnd(audited: 3, named: log.size))
        }
        // An auditor who has read the old log to its end decides between the two, with any other audits beside.
        #expect(try await audit(log, in: "end", at: now) == nil)
        for former in [["old", "end"], ["end", "old"]] {
            let error = try await audit(dated, in: "next", after: former, at: now)
            guard case .firstEpoch(.behind) = error else { throw error ?? .otherLog }
        }
        #expect(try await audit(honest, in: "next", after: ["old", "end"], at: now) == nil)
    }

    /// The attack: the next log names the old one's checkpoint of a day before its end.
    @Test func audit_refusesASuccessorThatNamesAnEarlierEnd() async throws {
        let now = ForgedLog.now + 86_400
        try log.grow(epochs: 1, people: 1)
        let size = log.size
        #expect(try await audit(log, in: "before", at: ForgedLog.now) == nil)
        log.letTimePass(86_400)
        try handOver()
        #expect(try await audit(log, in: "old", at: now) == nil)
        let successor = try successor(at: size, from: now)
        for (former, audited) in [("old", log.size), ("before", size)] {
            let error = try await audit(successor, in: "next", after: [former], at: now)
            #expect(error == .formerEnd(audited: audited, named: size))
        }
    }

    /// The successor, its own successor, and a log of the same name under another key keep every rule; an unrelated log
    /// is not guilty.
    @Test func aSuccessorOfAGuiltyLogIsGuilty() async throws {
        func audit(_ log: ForgedLog, knowing former: [GuiltyLog]? = nil) async throws -> AuditorError? {
            let own = AuditFolder.below(folder.path, for: log.signer.verifierKey.keyID)
            let convicted = former ?? GuiltyLog.all(in: folder.path, besides: own)
            func audited() async throws(AuditorError) {
                let policy: Policy
                do { policy = try log.policy() } catch { throw .otherLog }
                let auditor = try Auditor(
                    of: policy, at: source, keeping: own, convicted: convicted, clock: { ForgedLog.now })
                try await auditor.resume()
                _ = try await auditor.auditPublished()
            }
            try source.serve(log)
            return await failure(audited)
        }
        func successor(of former: ForgedLog?, _ origin: String, seed: UInt8) throws -> ForgedLog {
            let successor = try ForgedLog(origin: origin, seed: seed)
            if let former { try successor.add(PredecessorRecord(note: former.checkpoint()).entry) }
            try successor.grow(epochs: 2, people: 3)
            return successor
        }
        let next = try successor(of: log, "next.example/log", seed: 2)
        #expect(try await audit(successor(of: log, "other.example/log", seed: 5)) == nil, "no guilt is known yet")
        try log.grow(epochs: 2, people: 3)
        try log.commit(.secondStep)
        #expect(try await audit(log)?.guilt?.isInherited == false)
        let proof = try log.checkpoint()
        for descendant in [
            next, try successor(of: next, "third.example/log", seed: 3),
            try successor(of: nil, "directory.example/log", seed: 4),
        ] {
            for _ in 0..<2 {
                let guilt = try #require(try await audit(descendant)?.guilt)
                #expect(guilt.isInherited && guilt.evidence.notes == [proof])
            }
        }
        let aside = try successor(of: nil, "aside.example/log", seed: 6)
        #expect(try await audit(aside) == nil)
        #expect(try await audit(successor(of: aside, "after.example/log", seed: 8)) == nil)
        // The name of this folder contains no key: the evidence alone names the log.
        let kept = AuditFolder.below(folder.path, for: log.signer.verifierKey.keyID)
        try FileManager.default.copyItem(atPath: kept.path, toPath: folder.below("kept"))
        let named = try #require(GuiltyLog(AuditFolder(path: folder.below("kept"))))
        #expect(
            try await audit(successor(of: log, "fifth.example/log", seed: 7), knowing: [named])?.guilt?.isInherited
                == true)
    }

    @Test func twoTreesOfOneSizeAreAFork() async throws {
        try log.grow(epochs: 2, people: 3)
        try source.serve(log)
        let auditor = try auditor()
        _ = try await auditor.auditPublished()
        let other = try ForgedLog()
        try other.grow(epochs: 2, people: 3, from: 50)
        try source.serve(other)
        let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
        #expect(found?.claim == "fork")
    }

    @Test(arguments: [1, 4]) func treesOfTwoSizesAreAFork(_ epochs: Int) async throws {
        try log.grow(epochs: 2, people: 3)
        try source.serve(log)
        let auditor = try auditor()
        _ = try await auditor.auditPublished()
        // A second history, larger or smaller; its server has all its tiles.
        let other = try ForgedLog()
        try other.grow(epochs: epochs, people: 3, from: 50)
        try source.serve(other)
        if epochs == 1 {
            // The tiles of the larger log decide between the two, and those are the audited ones.
            try source.serve(log, publishing: other.checkpoint())
        }
        guard
            case .guilty(let guilt) = await failure({ () throws(AuditorError) in _ = try await auditor.auditPublished()
            })
        else { throw EvidenceError.unknownClaim }
        #expect(throws: Never.self) { try EvidenceVerifier(policy: log.policy()).verify(guilt.evidence) }
    }

    @Test func anOlderCheckpointIsReportedAndIsNoFork() async throws {
        try log.grow(epochs: 4, people: 3)
        try source.serve(log)
        let auditor = try auditor()
        _ = try await auditor.auditPublished()
        try source.serve(log, publishing: log.checkpoint(size: 14))
        let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
        #expect(found == .older(size: 14, audited: 28))
    }

    @Test func entriesChangedInTransitAreNoFaultOfTheLog_andTheNextAuditSucceeds() async throws {
        try log.grow(epochs: 2, people: 3)
        try source.serve(log)
        let auditor = try auditor()
        _ = try await auditor.auditPublished()
        try log.grow(epochs: 1, people: 3, from: 9)
        try source.serve(log)
        let path = "tile/entries/000.p/21"
        let honest = try #require(source.bytes(path))
        var entries = log.entries
        entries[17] = Array("made up\n".utf8)
        source.set(path, try EntryBundle(entries: entries).encoded)
        let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
        #expect(found == .entriesDoNotMatch(size: 21))
        source.set(path, honest)
        #expect(try await auditor.auditPublished().checkpoint.head.size == 21)
    }

    @Test func aMissingTileIsNamed_andTheAuditContinuesWhenItIsServedAgain() async throws {
        try log.grow(epochs: 3, people: 100)
        try source.serve(log)
        let path = "tile/entries/001"
        let bundle = source.bytes(path)
        source.set(path, nil)
        let auditor = try auditor()
        let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
        #expect(found == .missing(try Tile(.entries, index: 1)))
        source.set(path, bundle)
        #expect(try await auditor.auditPublished().checkpoint.head.size == log.size)
    }

    @Test func audit_refusesACheckpointOfAnotherKey() async throws {
        let other = try ForgedLog(seed: 9)
        try other.grow(epochs: 1, people: 3)
        try source.serve(other)
        let auditor = try auditor()
        let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
        #expect(found == .checkpoint(.logSignatureMissing))
    }

    @Test func aRestartReadsItsOwnFolderOnly() async throws {
        try log.grow(epochs: 5, people: 100)
        try source.serve(log)
        do { _ = try await auditor().auditPublished() }
        let count = source.readCount
        let again = try auditor()
        try await again.resume()
        #expect(await again.audited?.checkpoint.head == (try log.tree.head(size: log.size)))
        #expect(source.readCount == count)
    }

    @Test func aDamagedFolderIsRepairedFromTheSource() async throws {
        try log.grow(epochs: 5, people: 100)
        try source.serve(log)
        do { _ = try await auditor().auditPublished() }
        var entries = Array(log.entries[256..<512])
        entries[3] = Array("rot".utf8)
        let bundle = folder.below("state/tile/entries/001")
        try Data(try EntryBundle(entries: entries).encoded).write(to: URL(filePath: bundle))
        let again = try auditor()
        try await again.resume()
        #expect(await again.audited?.checkpoint.head.size == log.size)
        #expect(try Array(Data(contentsOf: URL(filePath: bundle))) == source.bytes("tile/entries/001"))
    }

    @Test func aSecondAuditorIsRefusedTheFolder() async throws {
        try source.serve(log)
        let first = try auditor()
        #expect(throws: AuditorError.folderInUse) { _ = try auditor() }
        _ = try await first.auditPublished()
    }

    @Test func audit_refusesALogWhoseLastEpochIsTooOldOrAhead() async throws {
        try log.grow(epochs: 2, people: 20)
        try source.serve(log)
        let ended = ForgedLog.now + 2
        for (now, error) in [
            (ended + 3_600, nil), (ended + 3_601, .behind(seconds: 3_601)), (ended - 300, nil),
            (ended - 301, .ahead(seconds: 301)),
        ] as [(UInt64, EpochError?)] {
            let auditor = try auditor("at-\(now)", at: now)
            let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
            #expect(found == error.map { .epochTime($0) })
            #expect(await auditor.isSound(try log.tree.head(size: log.size)) == (error == nil))
        }
    }

    @Test func aLogWithoutANewEpochPassesNoAuditUntilItHasOne() async throws {
        let clock = Atomic<UInt64>(ForgedLog.now)
        let auditor = try Auditor(
            of: log.policy(), at: source, keeping: AuditFolder(path: folder.below("state")),
            clock: { clock.load(ordering: .relaxed) })
        try log.grow(epochs: 2, people: 20)
        try source.serve(log)
        let head = try await auditor.auditPublished().checkpoint.head
        clock.store(ForgedLog.now + 86_400, ordering: .relaxed)
        #expect(await auditor.isSound(head), "it was audited in time")
        let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
        #expect(found == .epochTime(.behind(seconds: 86_398)))
        log.letTimePass(86_400)
        try log.closeEpoch()
        try source.serve(log)
        #expect(await auditor.isSound(try await auditor.auditPublished().checkpoint.head))
    }

    @Test func anAuditorsFolderIsAMirrorToAuditFrom() async throws {
        try log.grow(epochs: 5, people: 100)
        try source.serve(log)
        do { _ = try await auditor().auditPublished() }
        let mirror = FolderLogSource(path: folder.below("state"))
        let other = try Auditor(
            of: log.policy(), at: mirror, keeping: AuditFolder(path: folder.below("other")), clock: { ForgedLog.now })
        #expect(try await other.auditPublished().checkpoint.head.size == log.size)
    }
}
