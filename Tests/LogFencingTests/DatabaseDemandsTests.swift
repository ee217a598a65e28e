// SPDX-License-Identifier: Apache-2.0

import LogFencing
import Testing

@Suite struct DatabaseDemandsTests {
    private let demands = DatabaseDemands(systemIdentifier: 7, timeline: 2, database: 16_384)
    private var facts = DatabaseFacts(
        isInRecovery: false, commitsAreSynchronous: true, hasStandbys: true, systemIdentifier: 7, timeline: 2,
        database: 16_384)

    @Test mutating func aFitDatabaseIsAccepted_alsoAfterAPromotion() throws {
        try demands.check(facts)
        facts.timeline = 3
        try demands.check(facts)
    }

    @Test mutating func aDatabaseInRecoveryIsRefused() {
        facts.isInRecovery = true
        #expect(throws: DatabaseFault.inRecovery) { try demands.check(facts) }
    }

    @Test mutating func asynchronousCommitsAreRefused() {
        facts.commitsAreSynchronous = false
        #expect(throws: DatabaseFault.notSynchronous) { try demands.check(facts) }
    }

    @Test mutating func aDatabaseWithoutStandbysIsRefused() {
        facts.hasStandbys = false
        #expect(throws: DatabaseFault.withoutStandbys) { try demands.check(facts) }
    }

    @Test mutating func anotherInstallationIsRefused() {
        facts.systemIdentifier = 8
        #expect(throws: DatabaseFault.otherInstallation(systemIdentifier: 8)) { try demands.check(facts) }
    }

    @Test mutating func anotherDatabaseOfTheInstallationIsRefused_whereItsNumberIsKnown() throws {
        facts.database = 16_385
        #expect(throws: DatabaseFault.otherDatabase(16_385)) { try demands.requireInstallation(facts) }
        try DatabaseDemands(systemIdentifier: 7, timeline: 2, database: nil).requireInstallation(facts)
    }

    @Test mutating func anOlderTimelineIsRefused() {
        facts.timeline = 1
        #expect(throws: DatabaseFault.olderTimeline(1)) { try demands.check(facts) }
    }

    @Test mutating func takeover_claimsNothingOnAnUnfitDatabase() {
        facts.isInRecovery = true
        #expect(throws: TakeoverEnd.unfitDatabase(.inRecovery)) { try LogTakeover(on: facts, demands) }
    }
}

@Suite struct LeaseWatchTests {
    @Test func aLeaseIsRenewedEachSecond() {
        let lease = LeaseWatch(at: .seconds(10))
        #expect(!lease.isDue(at: .milliseconds(10_999)))
        #expect(lease.isDue(at: .seconds(11)))
    }

    @Test func nothingIsBegunTwoSecondsAfterTheLastRenewal() {
        var lease = LeaseWatch(at: .seconds(10))
        #expect(lease.allowsWriting(at: .milliseconds(11_999)))
        #expect(!lease.allowsWriting(at: .seconds(12)))
        lease.renew(sentAt: .seconds(12))
        #expect(lease.allowsWriting(at: .seconds(13)))
    }

    @Test func aLateAnswerToAnOldRenewalChangesNothing() {
        var lease = LeaseWatch(at: .seconds(10))
        lease.renew(sentAt: .seconds(8))
        #expect(lease.allowsWriting(at: .seconds(11)))
    }

    @Test func aLeaderStopsBeforeItsLeaseRunsOut() { #expect(LeaseWatch.patience < LeaseWatch.term) }
}
