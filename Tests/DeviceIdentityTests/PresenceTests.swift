// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import Testing

@Suite struct PresenceTests {
    let shop: VerifiedHost

    init() throws { shop = try host("shop.example") }

    /// A gate that was unlocked at time 1000.
    private func open(_ policy: PresencePolicy = .standard) throws -> PresenceGate {
        var gate = PresenceGate(policy: policy)
        _ = try Self.settle(&gate, .unlock, .present, at: 1000)
        return gate
    }

    private static func settle(
        _ gate: inout PresenceGate, _ action: PresenceAction, _ outcome: PresenceOutcome, at now: UInt64
    ) throws -> PresenceAction {
        guard case .prompt(let prompt) = gate.ask(action, at: now) else { throw PresenceError.notAsked }
        return try gate.settle(prompt, outcome, at: now).action
    }

    @Test func eachUseAsksAndNamesTheAction() throws {
        var gate = try open()
        for _ in 0..<3 {
            guard case .prompt(let prompt) = gate.ask(.signIn(shop), at: 1001) else {
                Issue.record("not asked")
                return
            }
            #expect(prompt.action == .signIn(shop))
            #expect(try gate.settle(prompt, .present, at: 1001).action == .signIn(shop))
        }
    }

    @Test func anAnswerCountsOnce() throws {
        var gate = try open()
        guard case .prompt(let prompt) = gate.ask(.updateAccount, at: 1001) else { return }
        _ = try gate.settle(prompt, .present, at: 1001).action
        #expect(throws: PresenceError.notAsked) { _ = try gate.settle(prompt, .present, at: 1001).action }
    }

    @Test func aSupersededQuestionIsVoid() throws {
        var gate = try open()
        guard case .prompt(let first) = gate.ask(.signIn(shop), at: 1001),
            case .prompt(let second) = gate.ask(.exportIdentity, at: 1001)
        else { return }
        #expect(throws: PresenceError.notAsked) { _ = try gate.settle(first, .present, at: 1001).action }
        #expect(try gate.settle(second, .present, at: 1001).action == .exportIdentity)
    }

    @Test func aLateAnswerIsRefused() throws {
        var gate = try open()
        guard case .prompt(let prompt) = gate.ask(.updateAccount, at: 1001) else { return }
        #expect(prompt.expires == 1061)
        #expect(throws: PresenceError.tooLate) { _ = try gate.settle(prompt, .present, at: 1061).action }
    }

    @Test func decliningGivesNothingAndCountsNothing() throws {
        var gate = try open()
        for _ in 0..<20 {
            #expect(throws: PresenceError.declined) {
                _ = try Self.settle(&gate, .updateAccount, .declined, at: 1001)
            }
        }
        #expect(gate.failures == 0 && gate.blockedUntil == 0)
    }

    @Test func wrongAnswersBlockForLongerEachTime() throws {
        var gate = try open()
        var now: UInt64 = 1001
        var blocks: [UInt64] = []
        for _ in 0..<16 {
            gate.touch(at: now)
            #expect(throws: PresenceError.self) { _ = try Self.settle(&gate, .unlock, .failed, at: now) }
            blocks.append(gate.blockedUntil > now ? gate.blockedUntil - now : 0)
            if gate.blockedUntil > now {
                #expect(gate.ask(.unlock, at: gate.blockedUntil - 1) == .wait(until: gate.blockedUntil))
                now = gate.blockedUntil
            }
        }
        #expect(blocks == [0, 0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600])
    }

    @Test func aRightAnswerForgetsTheWrongOnes() throws {
        var gate = try open()
        for _ in 0..<5 {
            #expect(throws: PresenceError.failed(blockedUntil: nil)) {
                _ = try Self.settle(&gate, .updateAccount, .failed, at: 1001)
            }
        }
        _ = try Self.settle(&gate, .updateAccount, .present, at: 1001)
        #expect(gate.failures == 0)
    }

    @Test func aNewGateIsLocked() throws {
        var gate = PresenceGate()
        #expect(gate.isLocked(at: 0))
        #expect(gate.ask(.signIn(shop), at: 0) == .unlockFirst)
    }

    @Test func fiveMinutesWithoutATouchLock() throws {
        var gate = try open()
        #expect(!gate.isLocked(at: 1299) && gate.isLocked(at: 1300))
        gate.touch(at: 1299)
        #expect(!gate.isLocked(at: 1598) && gate.isLocked(at: 1599))
        gate.touch(at: 1599)
        #expect(gate.isLocked(at: 1599))
        #expect(gate.ask(.signIn(shop), at: 1599) == .unlockFirst)
    }

    @Test func aClockThatWentBackLocks() throws {
        let gate = try open()
        #expect(gate.isLocked(at: 999))
    }

    @Test func lockingVoidsAStandingQuestion() throws {
        var gate = try open()
        guard case .prompt(let prompt) = gate.ask(.updateAccount, at: 1001) else { return }
        gate.lock()
        #expect(gate.isLocked(at: 1001))
        #expect(throws: PresenceError.notAsked) { _ = try gate.settle(prompt, .present, at: 1001).action }
    }

    @Test func aReuseWindowHoldsForTheSameActionOnly() throws {
        var gate = try open(PresencePolicy(reuseWindow: 10))
        _ = try Self.settle(&gate, .signIn(shop), .present, at: 1001)
        guard case .waived(let prompt) = gate.ask(.signIn(shop), at: 1010) else {
            Issue.record("asked again")
            return
        }
        #expect(try gate.settle(prompt, .present, at: 1010).action == .signIn(shop))
        let other = try host("bank.example")
        for (action, now) in [(PresenceAction.signIn(other), UInt64(1011)), (.exportIdentity, 1011)] {
            guard case .prompt = gate.ask(action, at: now) else {
                Issue.record("not asked for another action")
                return
            }
        }
        guard case .prompt = gate.ask(.signIn(shop), at: 1020) else {
            Issue.record("the window did not end")
            return
        }
    }

    @Test func aRestartRemembersTheCooldownAndLocks() throws {
        var gate = try open()
        for _ in 0..<6 { _ = try? Self.settle(&gate, .updateAccount, .failed, at: 1001) }
        var again = try PresenceGate(decoding: gate.encoded)
        #expect(again.failures == 6 && again.ask(.unlock, at: 1030) == .wait(until: 1031))
        #expect(again.isLocked(at: 1001))
        #expect(throws: (any Error).self) { try PresenceGate(decoding: gate.encoded + [0]) }
        #expect(throws: (any Error).self) { try PresenceGate(decoding: gate.encoded.dropLast()) }
        #expect(throws: (any Error).self) { try PresenceGate(decoding: [0] + gate.encoded.dropFirst()) }
    }

    @Test func keysAreUsedOncePerAnswer() async throws {
        let (store, presence) = (MemoryKeystore(), ScriptedPresence([.present, .failed]))
        _ = try await store.makeKey(.p256Signing, named: .identity)
        var gate = try open()
        for attempt in 0..<3 {
            guard case .prompt(let prompt) = gate.ask(.linkDevice, at: 1001) else { return }
            let outcome = await presence.answer(prompt)
            do {
                let grant = try gate.settle(prompt, outcome, at: 1001)
                _ = try await store.sign([1], with: .identity, grant)
            } catch { #expect(attempt > 0) }
        }
        #expect(await store.uses == [.linkDevice])
        #expect(await presence.asked == [.linkDevice, .linkDevice, .linkDevice])
    }
}

@Suite struct CustodyTests {
    @Test func aKeyThatCannotLeaveIsBound() {
        func capabilities(_ exportable: Bool, _ synced: Bool) -> PrivateKeyStoreCapabilities {
            PrivateKeyStoreCapabilities(
                isHardware: true, isExportable: exportable, isSynced: synced, asksForPresence: true)
        }
        #expect(Custody(capabilities(false, false)) == .bound)
        #expect(Custody(capabilities(true, false)) == .portable)
        #expect(Custody(capabilities(false, true)) == .portable)
    }
}
