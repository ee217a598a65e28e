// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI
import SignetClient
import SocialRecovery
import Testing

@testable import RecoveryClient

/// The errors on a device that did not choose the guardians, or that was removed from the account.
@Suite(.everyEngine) struct OtherDeviceTests {
    let family: Family
    private var ming: Villager { family.ming }

    init() async throws { family = try await Family() }

    /// A device of ming's that was added to the account.
    private func linked(withIdentity: Bool = false) async throws -> Villager {
        let device = try Villager("ming", in: family.village, device: "-linked", withIdentity: withIdentity)
        let card = try await device.client.linkCard(device.secrets)
        _ = try await ming.client.addDevice(card.device, by: ming.secrets)
        try await device.client.acceptCompared(device.client.accountToConfirm())
        return device
    }

    /// The refusals of the owner's operations that need guardians chosen on this device.
    private func refusals(of device: Villager) async throws -> [RecoveryClientError?] {
        let owner = try device.owner
        return [
            await refusal { _ = try await owner.refresh() }, await refusal { try await owner.beginCheck() },
            await refusal { _ = try await owner.paper() }, await refusal { _ = try await owner.remind() },
        ]
    }

    @Test(arguments: [false, true])
    func aDeviceReportsThatGuardiansWereChosenOnAnother(withIdentity: Bool) async throws {
        let device = try await linked(withIdentity: withIdentity)
        #expect(try await refusals(of: device) == Array(repeating: .noGuardians, count: 4), "before they are chosen")
        for guardian in family.guardians { try await guardian.accept(ming.handle) }
        try await family.setUp()
        let elsewhere = RecoveryClientError.chosenElsewhere(hasIdentity: withIdentity)
        #expect(try await refusals(of: device) == Array(repeating: elsewhere, count: 4))
    }

    @Test func guardiansWhoAreBeingAskedAreReportedAsNotInForce() async throws {
        try await family.ask()
        #expect(await refusal { _ = try await ming.owner.paper() } == .notInForceYet)
        #expect(await refusal { try await ming.owner.beginCheck() } == .notInForceYet)
    }

    @Test func remind_isRefusedWhenAllGuardiansHaveAnswered() async throws {
        #expect(await refusal { _ = try await ming.owner.remind() } == .noGuardians)
        try await family.setUp()
        #expect(await refusal { _ = try await ming.owner.remind() } == .allHaveAnswered)
        // All of another set answered, and it cannot replace the present one yet.
        _ = try await ming.owner.refresh()
        let device = try Villager("ming", in: family.village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.confirm(family.guardians[0], on: device)
        for guardian in family.guardians { _ = try await guardian.guardian.advance() }
        #expect(await refusal { try await ming.owner.advance() } == .recoveryIsOpen)
        #expect(await refusal { _ = try await ming.owner.remind() } == .allHaveAnswered)
    }

    /// Guardians accept no objection of a device that was removed from the account.
    @Test func aRemovedDeviceMakesNoObjection() async throws {
        try await family.setUp()
        let device = try await linked()
        #expect(await refusal { _ = try await device.owner.objection() } == nil, "while it is listed")
        _ = try await ming.client.revokeDevice(2, by: ming.secrets)
        #expect(await refusal { _ = try await device.owner.objection() } == .removedDevice)
        #expect(await refusal { _ = try await device.owner.stopRecovery() } == .removedDevice)
        #expect(await refusal { _ = try await device.owner.guardNews([]) } == .removedDevice)
        // The same holds while a recovery is pending.
        let asking = try Villager("ming", in: family.village, device: "-new")
        _ = try await asking.newDevice.start(calling: [])
        try await family.confirm(family.guardians[0], on: asking)
        #expect(await refusal { _ = try await device.owner.objection() } == .removedDevice)
        #expect(await refusal { _ = try await device.owner.stopRecovery() } == .removedDevice)
        // Without the directory it cannot know.
        device.transport.fail(after: 0)
        #expect(await refusal { _ = try await device.owner.objection() } == nil)
    }

    @Test func anUnknownRequestNumberIsReportedAsSuch() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: family.village, device: "-new")
        let number = try await device.newDevice.start(calling: []).number
        let other = try #require(RequestNumber(number.value == 0 ? 1 : number.value - 1))
        let ana = family.guardians[0]
        #expect(
            await refusal { _ = try await ana.guardian.look(at: other, for: ming.handle) } == .noSuchNumber(ming.handle)
        )
        let code = Array("academic acid acne 00".utf8)
        let confirmed = await refusal {
            _ = try await ana.guardian.confirm(ming.handle, number: other, code: code, ana.grant(for: ming.handle))
        }
        #expect(confirmed == .noSuchNumber(ming.handle))
        let without = await refusal {
            _ = try await ana.guardian.confirm(ming.handle, code: code, ana.grant(for: ming.handle))
        }
        #expect(without == .nobodyAsks(ming.handle))
    }

    @Test func aDeviceThatWasNeverListedIsNotReportedAsRemoved() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: family.village, device: "-stranger", withIdentity: false)
        let notAdded = RecoveryClientError.client(.misuse(.deviceNotAddedYet))
        #expect(await refusal { _ = try await device.owner.objection() } == notAdded)
        #expect(await refusal { _ = try await device.owner.stopRecovery() } == notAdded)
    }
}
