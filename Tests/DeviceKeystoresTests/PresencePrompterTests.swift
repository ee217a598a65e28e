// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import Foundation
import SignetClient
import Synchronization
import Testing

@testable import DeviceKeystores

/// Answers from a list, and declines when the list is used up.
actor ScriptedPresence: Presence {
    private var outcomes: [PresenceOutcome]
    private(set) var asked: [PresenceAction] = []

    init(_ outcomes: [PresenceOutcome]) { self.outcomes = outcomes }

    func answer(_ prompt: PresencePrompt) async -> PresenceOutcome {
        asked.append(prompt.action)
        return outcomes.isEmpty ? .declined : outcomes.removeFirst()
    }
}

@Suite struct PresencePrompterTests {
    private func shop() throws -> VerifiedHost {
        try VerifiedHost(Array("shop.example".utf8), evidence: .tlsConnection)
    }

    @Test func eachUseAsksAgainAndNamesTheAction() async throws {
        let person = ScriptedPresence([.present, .present])
        let desk = PresencePrompter(asking: person, remembering: nil, clock: { 1000 })
        for _ in 0..<2 { _ = try await desk.grant(for: .signIn(shop()), unlocking: true).action }
        #expect(try await person.asked == [.signIn(shop()), .signIn(shop())])
    }

    @Test func aLockedProgramRefusesUntilItIsUnlocked() async throws {
        let desk = PresencePrompter(asking: ScriptedPresence([.present]), remembering: nil, clock: { 1000 })
        await #expect(throws: PresenceRefusal.locked) { _ = try await desk.grant(for: .updateAccount).action }
        _ = try await desk.grant(for: .unlock).action
        await #expect(throws: PresenceRefusal.unanswered(.declined)) {
            _ = try await desk.grant(for: .updateAccount).action
        }
    }

    @Test func idleTimeLocksTheProgram() async throws {
        let time = Mutex<UInt64>(1000)
        let locked = Mutex(0)
        let desk = PresencePrompter(
            asking: ScriptedPresence([.present, .present, .present]), remembering: nil,
            clock: { time.withLock { $0 } }, onLock: { locked.withLock { $0 += 1 } })
        _ = try await desk.grant(for: .unlock).action
        _ = try await desk.grant(for: .updateAccount).action
        #expect(locked.withLock { $0 } == 1, "it was locked at first")
        time.withLock { $0 += 300 }
        await #expect(throws: PresenceRefusal.locked) { _ = try await desk.grant(for: .updateAccount).action }
        #expect(locked.withLock { $0 } == 2)
    }

    @Test func wrongAnswersAreCountedAcrossRestarts() async throws {
        let folder = try Folder()
        let file = DurableFile(path: folder["presence"])
        for _ in 0..<6 {
            let desk = PresencePrompter(asking: ScriptedPresence([.failed]), remembering: file, clock: { 1000 })
            await #expect(throws: PresenceRefusal.self) { _ = try await desk.grant(for: .unlock).action }
        }
        let person = ScriptedPresence([.present])
        let desk = PresencePrompter(asking: person, remembering: file, clock: { 1029 })
        await #expect(throws: PresenceRefusal.wait(until: 1030)) { _ = try await desk.grant(for: .unlock).action }
        #expect(await person.asked.isEmpty)
        let later = PresencePrompter(asking: person, remembering: file, clock: { 1030 })
        _ = try await later.grant(for: .unlock).action
    }
}
