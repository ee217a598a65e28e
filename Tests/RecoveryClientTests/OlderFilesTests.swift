// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import SignetClient
import SocialRecovery
import Testing

@testable import RecoveryClient

/// Files in home folders from before version 2: `Vectors/old/recovery-1`.
@Suite struct OlderFilesTests {
    let family: Family

    init() async throws { family = try await Family() }

    private func old(_ name: String) throws -> [UInt8] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return Array(try Data(contentsOf: root.appending(path: "Vectors/old/recovery-1/" + name)))
    }

    @Test func aRefreshGivesThePeopleOfAnOlderSetNewParts() async throws {
        let ming = family.ming
        try ming.files.write(old("guardians"), to: ming.files.setup)
        #expect(throws: RecoveryClientError.anotherVersion) { try ming.owner.current() }
        let asked = try await ming.owner.refresh()
        #expect(asked.guardians.map(\.key.handle) == family.guardians.prefix(3).map(\.handle))
        #expect(asked.threshold == 2 && asked.bundle.delay == 129_600 && asked.bundle.scope.epoch == 2)
        #expect(asked.guardians.map(\.meeting.kind) == [.person, .none, .none])
        for guardian in family.guardians.prefix(3) { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        #expect(try ming.owner.current()?.stage == .active)
    }

    @Test func aDutyOfAnOlderFormatIsListed_andItsPacketIsRefused() throws {
        let ana = family.guardians[0]
        try ana.files.write(old("guardian-duties"), to: ana.files.duties)
        let duty = try #require(try ana.guardian.duties().first)
        #expect(try GuardianDuty(decoding: duty.encoded) == duty)
        let packet = Result {
            try ana.secrets.withSealingKey { key in
                try duty.packet(epoch: 1, with: key, as: ana.handle, identityKey: [])
            }
        }
        #expect(throws: GuardianDutyError.packet(.invalidLength(1105))) { try packet.get() }
    }

    @Test func anOlderCaseIsIgnored_andAnOlderRecoveryIsRefusedByItsVersion() async throws {
        let ana = family.guardians[0]
        try ana.files.write(old("guardian-cases"), to: ana.files.cases)
        #expect(try ana.guardian.cases().isEmpty)
        let device = try Villager("ming", in: family.village, device: "-new")
        try device.files.write(old("recovery"), to: device.files.recovery)
        await #expect(throws: RecoveryClientError.anotherVersion) { _ = try await device.newDevice.status() }
        #expect(RecoveryRecord.firstEpoch(in: try old("recovery")) == 1)
        #expect(RecoveryRecord.firstEpoch(in: try old("guardians")) == nil)
    }
}
