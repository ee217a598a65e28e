// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

/// Random histories: after each step, every lookup verifies and shows exactly the devices of the model.
@Suite(.everyEngine) struct DirectoryModelTests {
    @Test(arguments: 1...4) func everyLookupVerifiesAndShowsTheModel(seed: UInt64) async throws {
        let place = try Place()
        var history = try History(seed: seed, directory: await place.create(), place: place)
        for _ in 0..<40 { try await history.step() }
        await history.directory.close()
    }
}

private struct History {
    var random: SplitMix
    var directory: Directory
    let place: Place
    var people: [Person] = []
    var erased: [Handle] = []
    var view: LogView?

    init(seed: UInt64, directory: Directory, place: Place) {
        random = SplitMix(state: seed)
        self.directory = directory
        self.place = place
    }

    mutating func step() async throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3: try await register()
        case 3..<6: try await addDevice()
        case 6..<8: try await revokeDevice()
        case 8: try await bringBackADevice()
        case 9: try await refusedStep()
        case 10: try await erase()
        default: try await reopen()
        }
        try await check()
    }

    private mutating func register() async throws {
        var person = try Person(
            "person-\(people.count + erased.count)@example.org", deviceCount: .random(in: 1...3, using: &random))
        try await person.register(at: directory)
        people.append(person)
    }

    private mutating func addDevice() async throws {
        guard let place = people.indices.randomElement(using: &random), people[place].devices.count < 6 else { return }
        let device = try people[place].newDevice()
        try await people[place].change(to: people[place].devices + [device], at: directory)
    }

    private mutating func revokeDevice() async throws {
        guard let place = people.indices.randomElement(using: &random), people[place].devices.count > 1 else { return }
        var devices = people[place].devices
        devices.remove(at: .random(in: 1..<devices.count, using: &random))
        try await people[place].change(to: devices, at: directory)
    }

    private mutating func bringBackADevice() async throws {
        guard let place = people.indices.randomElement(using: &random), people[place].devices.count > 1 else { return }
        let last = people[place].devices[people[place].devices.count - 1]
        let rest = Array(people[place].devices.dropLast())
        try await people[place].change(to: rest, at: directory)
        let number = people[place].nextNumber
        people[place].nextNumber += 1
        try await people[place].change(to: rest + [last.renumbered(number)], at: directory)
    }

    private mutating func refusedStep() async throws {
        guard let person = people.randomElement(using: &random) else { return }
        let devices = person.devices + [try Device(person.nextNumber)]
        let submission = try StateSubmission(
            state: person.nextState(devices: devices), opening: Person.opening(), cards: [])
        #expect(try await refusal { try await person.send(submission, to: directory) } == .possessionNotProven)
    }

    private mutating func erase() async throws {
        guard people.count > 2, let place = people.indices.randomElement(using: &random) else { return }
        let person = people.remove(at: place)
        try await directory.erase(person.handle)
        erased.append(person.handle)
    }

    private mutating func reopen() async throws {
        await directory.close()
        directory = try await place.open()
    }

    private mutating func check() async throws {
        for person in people {
            let found = try await place.verifiedLookup(person.handle, at: directory, knowing: view)
            #expect(found.state.devices == person.devices.map(\.record))
            #expect(found.state.encoded == person.state?.encoded)
            view = found.view
        }
        for handle in erased {
            guard case .closed = try await place.verifiedAnswer(about: handle, at: directory, knowing: view) else {
                Issue.record("an erased account is not shown as closed")
                continue
            }
        }
    }
}

/// A small deterministic generator, so that a failing history can be run again.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
