// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetTesting

/// The people of one directory.
struct Crowd {
    let profile: DirectoryProfile
    let name: String
    private let receipts = Receipts()

    init(profile: DirectoryProfile, name: String) {
        self.profile = profile
        self.name = name
    }

    /// Registers one person after the other and changes each account once, until the task is cancelled.
    func write(_ writer: Int) async {
        for number in 0... {
            if Task.isCancelled { return }
            do {
                let handle = try Handle(typed: Array("\(name)-\(writer)-\(number)@example.org".utf8))
                let person = try Person(handle, at: profile)
                guard let registered = await person.register() else { continue }
                await receipts.add(registered)
                guard let changed = await person.change() else { continue }
                await receipts.add(changed)
            } catch { return Lines.say("refused \(name) \(error)") }
        }
    }

    /// Looks up one of those who are registered, five times a second, until the task is cancelled.
    func look() async {
        let store = InMemoryStore()
        guard let client = stranger(remembering: store) else { return }
        var evidence = 0
        while !Task.isCancelled {
            if let receipt = await receipts.any() {
                let start = ContinuousClock.now
                do {
                    _ = try await client.lookup(receipt.handle)
                    Lines.say("found \(start.age)")
                } catch { Lines.say("unfound \(receipt.handle) \(start.age) \(error.briefly)") }
            }
            let kept = await store.keptEvidence.count
            if kept > evidence { Lines.say("evidence \(kept)") }
            evidence = kept
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Looks everybody up who was acknowledged, eight at once.
    func check(isWhole: Bool) async {
        let expected = await receipts.toCheck(isWhole: isWhole)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    guard let client = stranger(remembering: InMemoryStore()) else { return }
                    for place in stride(from: worker, to: expected.count, by: 8) {
                        await find(expected[place], by: client)
                    }
                }
            }
        }
        Lines.say("checked \(expected.count)")
    }

    /// Asks again for half a minute: a front end may be a little behind, and nobody has told it what this person, who has seen nothing yet,
    /// ought to find.
    private func find(_ receipt: Receipt, by client: Client<InMemoryStore>) async {
        let start = ContinuousClock.now
        var problem = "another state"
        repeat {
            do {
                let verdict = try await client.lookup(receipt.handle).verdict
                // Whoever changed the account meanwhile has another state of a later version.
                if verdict.version > receipt.version || verdict.stateHash == receipt.stateHash { return }
                problem = "version \(verdict.version)"
            } catch { problem = error.briefly }
            try? await Task.sleep(for: .milliseconds(250))
        } while start.age < 30_000
        Lines.say("missing \(receipt.handle) \(receipt.version) \(problem)")
    }

    private func stranger(remembering store: InMemoryStore) -> Client<InMemoryStore>? {
        do {
            return try Client(of: profile, over: NIOTransport(to: profile), remembering: store, owner: nil)
        } catch {
            Lines.say("refused \(name) \(error)")
            return nil
        }
    }
}
