// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import LogEngine
import Testing

@testable import SignetServer

/// What an operator's monitoring is told before clients notice.
struct ReadinessTests {
    private static let now: UInt64 = 1_800_000_000

    private func faults(
        alive: Bool = true, age: UInt64 = 60, interval: UInt64? = 60, isDiskFull: Bool = false, days: UInt64? = 100,
        unseen: Duration = .zero, isUsable: Bool = true, isStopping: Bool = false, isUnprotected: Bool = false,
        arePinsNewest: Bool = true, lostFiles: [String] = [], missingFiles: [String] = [], locked: [String] = [],
        epochAhead: UInt64 = 0, missingParts: String? = nil,
        clock: ClockFault? = nil, isEarly: Bool = false, displaced: DisplacedFiles = DisplacedFiles()
    ) -> [Readiness.Fault] {
        let lead: UInt64 = if case .ahead(let seconds) = clock { seconds } else { 0 }
        let condition = LogCondition(
            isAlive: alive, size: 9, publishedSize: 9, checkpointTime: Self.now - age,
            epochTime: Self.now + epochAhead - lead, displaced: displaced)
        var readiness = Readiness()
        readiness.interval = interval
        readiness.lag = { unseen }
        readiness.isUnprotected = { isUnprotected }
        readiness.missingParts = { missingParts }
        readiness.isDiskFull = { isDiskFull }
        readiness.certificateEnd = { days.map { Self.now + $0 * 86_400 } }
        readiness.isCertificateUsable = { isUsable }
        readiness.isCertificateEarly = { isEarly }
        readiness.arePinsNewest = { arePinsNewest }
        readiness.lostFiles = { lostFiles }
        readiness.missingFiles = { missingFiles }
        readiness.lockedDatabases = { locked }
        readiness.clockFault = { clock }
        readiness.isStopping = { isStopping }
        return readiness.faults(of: condition, at: Self.now)
    }

    @Test func aServerWithFreshCheckpointsRoomAndACertificateIsReady() {
        #expect(faults() == [])
        #expect(faults(age: 180, days: 14) == [])
        #expect(faults(unseen: .milliseconds(5_999)) == [])
        #expect(faults(age: 9_999, interval: nil, days: nil) == [], "no interval and no certificate are known")
    }

    @Test func eachReasonNotToBeReadyIsNamed() {
        #expect(faults(isStopping: true) == [.stopping])
        #expect(faults(alive: false) == [.logStopped])
        #expect(faults(age: 181) == [.nothingPublished(seconds: 181)])
        #expect(faults(epochAhead: 300) == [])
        #expect(faults(epochAhead: 301) == [.epochAhead(seconds: 301)])
        #expect(faults(clock: .ahead(seconds: 1)) == [.clock(.ahead(seconds: 1))])
        #expect(
            faults(age: 999, clock: .ahead(seconds: 939)) == [.clock(.ahead(seconds: 939))], "60 seconds have passed")
        #expect(faults(clock: .behind(seconds: 1)) == [.clock(.behind(seconds: 1))])
        #expect(faults(clock: .unnamed(seconds: 1)) == [.clock(.unnamed(seconds: 1))])
        #expect(faults(unseen: .seconds(6)) == [.behind(seconds: 6)])
        #expect(faults(isUnprotected: true) == [.unprotected])
        #expect(faults(missingParts: "away") == [.partsMissing("away")])
        #expect(faults(isDiskFull: true) == [.diskReserve])
        #expect(faults(days: 13) == [.certificateEnds(days: 13)])
        #expect(faults(days: 0) == [.certificateEnded])
        #expect(Readiness.Fault.certificateEnded.text == "the certificate has expired")
        #expect(faults(isEarly: true) == [.certificateEarly])
        #expect(Readiness.Fault.certificateEarly.reason == .certificateUnusable)
        #expect(faults(isUsable: false) == [.certificateUnusable])
        #expect(faults(arePinsNewest: false) == [.pinsOutdated])
        #expect(faults(lostFiles: ["notes/notes.sqlite"]) == [.filesLost(["notes/notes.sqlite"])])
        #expect(faults(missingFiles: ["keys/log.key"]) == [.filesMissing(["keys/log.key"])])
        #expect(faults(locked: ["signals.sqlite"]) == [.databasesLocked(["signals.sqlite"])])
        #expect(Readiness.Fault.databasesLocked([]).reason.rawValue == "database_locked")
        var displaced = DisplacedFiles()
        (displaced.open, displaced.read) = (["records/directory.sqlite"], ["records/log/wal/0"])
        #expect(
            faults(lostFiles: ["recovery.sqlite"], missingFiles: ["keys/log.key"], displaced: displaced) == [
                .filesLost(["recovery.sqlite", "records/directory.sqlite"]),
                .filesMissing(["keys/log.key", "records/log/wal/0"]),
            ])
        #expect(faults(alive: false, age: 500, isDiskFull: true, days: 1).count == 4)
    }

    /// An orderly stop loses nothing of what SQLite keeps beside a database; of a database itself it loses all that was written.
    @Test func aLostFileBesideADatabaseIsNoReasonNotToStop_andALostDatabaseIs() {
        let beside = Readiness.Fault.filesLost(["recovery.sqlite-shm", "recovery.sqlite-wal"]).text
        #expect(beside.contains("an orderly stop (SIGTERM) loses nothing") && !beside.contains("do not stop"))
        for lost in [["recovery.sqlite"], ["recovery.sqlite", "recovery.sqlite-wal"], ["records/log/wal/0"]] {
            let text = Readiness.Fault.filesLost(lost).text
            #expect(text.contains("do not stop it") && !text.contains("orderly"))
        }
    }

    /// A balancer goes by the status. What an operator is told beside that changes nothing of it.
    @Test func aRemarkIsNoReasonToLeaveAServerOut() {
        var readiness = Readiness()
        readiness.remarks = { ["the clock is wrong"] }
        let answer = readiness.answer(of: nil, at: Self.now)
        #expect(answer.status == .ok && String(decoding: answer.body, as: UTF8.self) == "ready\nthe clock is wrong\n")
        readiness.isDiskFull = { true }
        let refusal = readiness.answer(of: nil, at: Self.now)
        #expect(refusal.status == .serviceUnavailable)
        #expect(String(decoding: refusal.body, as: UTF8.self).hasSuffix("the disk\nthe clock is wrong\n"))
    }

    @Test func theEndOfAnIdentityIsThatOfItsCertificate() throws {
        let authority = try DevelopmentAuthority(hosts: [.name("localhost")], at: Self.now)
        let identity = TLSIdentity(
            certificateChain: Array(authority.serverPEM.utf8), privateKey: Array(authority.serverKeyPEM.utf8))
        let end = try #require(identity.end)
        #expect(end > Self.now + 389 * 86_400 && end < Self.now + 398 * 86_400)
        #expect(TLSIdentity(certificateChain: [1], privateKey: []).end == nil)
    }
}

/// The same over HTTP.
struct ReadinessRouteTests {
    @Test func ready_answers503WithALineForEachReason() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.republishInterval = .seconds(60) }) { client in
            let answer = try #require(try await client.get("/ready"))
            #expect(answer.status == 503)
            #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix("no checkpoint was published for "))
        }
        try await withServer(answering: MadeUpDirectory()) { client in
            let answer = try #require(try await client.get("/ready"))
            #expect(answer.status == 200)
            #expect(String(decoding: answer.body, as: UTF8.self) == "ready\n")
        }
    }
}
