// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetClient
import SocialRecovery
import Testing

@testable import RecoveryClient

/// A new device whose recovery file was emptied or damaged: it does not have to wait for a week.
@Suite struct DamagedRecoveryTests {
    let family: Family
    let device: Villager

    init() async throws {
        family = try await Family()
        try await family.setUp()
        device = try Villager("ming", in: family.village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
    }

    private var files: RecoveryFiles { device.files }

    /// Empties the file and its copy.
    private func loseBoth() throws {
        for file in [files.recovery, files.recoveryCopy] { try files.write([], to: file) }
    }

    @Test(arguments: [false, true])
    func oneIntactCopyIsEnoughToFinish(isCopyLost: Bool) async throws {
        for guardian in family.guardians.prefix(3) { try await family.confirm(guardian, on: device) }
        try files.write([], to: isCopyLost ? files.recoveryCopy : files.recovery)
        #expect(try await device.newDevice.status().stage == .collecting)
        try files.write([1, 2, 3], to: isCopyLost ? files.recoveryCopy : files.recovery)
        try await family.village.pass(UInt64(RecoveryCommitment.standardDelay))
        for guardian in family.guardians.prefix(3) { _ = try await guardian.guardian.advance() }
        #expect(try await device.newDevice.finish().people.count == 5)
        #expect(try files.read(files.recovery) == files.read(files.recoveryCopy), "both are intact again")
    }

    @Test func aRequestLostBeforeItIsLoggedIsStartedAgain() async throws {
        let number = try await device.newDevice.status().number
        try loseBoth()
        try files.write([7], to: files.recovery)
        #expect(await refusal { _ = try await device.newDevice.status() } == .damaged("recovery"))
        #expect(await refusal { _ = try await device.newDevice.finish() } == .damaged("recovery"))
        let begun = try await device.newDevice.start(calling: [])
        #expect(begun.number != number)
        let kept = HomeFolder(path: family.village.folder + "/ming-new").path + "/recovery-damaged-1"
        #expect(try DurableFile(path: kept).read(maximumByteCount: 9) == [7], "the damaged file is kept")
        try await family.help(device)
        #expect(try await device.newDevice.finish().people.count == 5)
    }

    @Test func aLoggedRequestWhoseFileIsLostIsReportedAsTheOwn() async throws {
        try await family.confirm(family.guardians[0], on: device)
        let expires = try #require(try await device.newDevice.status().start?.expires)
        try loseBoth()
        #expect(await refusal { _ = try await device.newDevice.start(calling: []) } == .ownRequestLost(until: expires))
        #expect(await refusal { _ = try await device.newDevice.status() } == .damaged("recovery"))
        // A remaining device of the account stops it, and then another recovery starts.
        _ = try await family.ming.owner.stopRecovery()
        try await family.village.pass(86_401)
        #expect(try await device.newDevice.start(calling: []).start == nil)
        try await family.confirm(family.guardians[1], on: device)
        #expect(try await device.newDevice.status().stage == .collecting)
    }
}
