// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import LogEngine
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

@Suite(.everyEngine) struct RegistrationTests {
    let place: Place
    let directory: Directory

    init() async throws {
        place = try Place()
        directory = try await place.create()
    }

    @Test func aRegisteredAccountIsFoundAndVerified() async throws {
        var alice = try Person("alice@example.org", deviceCount: 2)
        let receipt = try await alice.register(at: directory)
        #expect(receipt.index == 3)
        #expect(receipt.size == 5)
        let found = try await place.verifiedLookup(alice.handle, at: directory)
        #expect(found.state.encoded == alice.state?.encoded)
        #expect(found.checkpoint.checkpoint.head.size == 5)
    }

    @Test func aRepeatedRegistrationGetsTheSameReceipt() async throws {
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        let first = try await alice.send(submission, to: directory)
        #expect(try await alice.send(submission, to: directory) == first)
        #expect(directory.log.published.head.size == 4)
    }

    @Test func aRepeatedRegistrationGetsTheSameIndexAfterLaterStates() async throws {
        var alice = try Person("alice@example.org")
        let unregistered = alice
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        let first = try await alice.send(submission, to: directory)
        alice.state = submission.state
        try await alice.change(to: alice.devices + [alice.newDevice()], at: directory)
        let again = try await unregistered.send(submission, to: directory)
        #expect(again.index == first.index)
        #expect(again.size == 7)
    }

    @Test func register_refusesATakenHandle() async throws {
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        var mallory = try Person("alice@example.org")
        #expect(try await refusal { try await mallory.register(at: directory) } == .handleTaken)
        #expect(directory.log.published.head.size == 4)
    }

    @Test func register_refusesTheSameStateWithAnotherOpening() async throws {
        var alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        _ = try await alice.send(submission, to: directory)
        let other = try StateSubmission(
            state: submission.state, opening: Person.opening(), cards: submission.cards)
        #expect(try await refusal { try await alice.send(other, to: directory) } == .handleTaken)
        alice.state = submission.state
    }

    @Test func register_refusesAStateOfVersionTwo() async throws {
        var alice = try Person("alice@example.org")
        alice.state = try alice.nextState(devices: alice.devices)
        let second = try StateSubmission(
            state: alice.nextState(devices: alice.devices), opening: Person.opening(),
            cards: [await alice.devices[0].card(for: alice.handle, at: directory)])
        alice.state = nil
        #expect(try await refusal { try await alice.send(second, to: directory) } == .badRequest)
    }

    @Test func register_refusesASignerThatTheStateDoesNotList() async throws {
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        let stranger = try Device(1)
        #expect(
            try await refusal { try await alice.send(submission, by: stranger, to: directory) } == .notYourAccount)
    }

    @Test func register_refusesASignatureOfAnotherBody() async throws {
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        let other = try await alice.submission(devices: alice.devices, at: directory)
        let (signature, content) = try alice.devices[0].sign(
            .register, other.encoded, at: directory, time: place.clock.now)
        #expect(
            try await refusal { try await directory.register(submission, signature, content) } == .badRequest)
    }

    @Test func register_refusesASignatureForAnotherDirectory() async throws {
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        let content = RequestSignature.Content(
            .register, origin: Array("other.example/log".utf8), body: submission.encoded)
        let device = alice.devices[0]
        let signature = try RequestSignature(
            content, deviceKey: device.record.keys.signing, time: place.clock.now,
            nonce: Array(repeating: 1, count: 16)
        ) { Array(try device.signing.signature(for: $0)) }
        #expect(
            try await refusal { try await directory.register(submission, signature, content) } == .notSigned)
    }

    @Test func register_refusesASignatureFromMoreThanFiveMinutesAgo() async throws {
        var alice = try Person("alice@example.org")
        let time = place.clock.now - 301
        #expect(try await refusal { try await alice.register(at: directory, time: time) } == .wrongTime)
    }

    /// The receipt names the same index, and the log does not grow.
    @Test func aRepeatedRequestToRegisterAppendsNothing() async throws {
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        let (signature, content) = try alice.devices[0].sign(
            .register, submission.encoded, at: directory, time: place.clock.now)
        let first = try await directory.register(submission, signature, content)
        for _ in 0..<3 { #expect(try await directory.register(submission, signature, content) == first) }
        #expect(directory.log.published.head.size == 4)
    }

    /// The attack: people without an account repeat what they registered with, and sign it again each time, to fill
    /// what the server remembers of signed requests.
    @Test func repeatedRegistrationsTakeNoNonce() async throws {
        let small = Directory(
            log: directory.log, epochs: directory.epochs, snapshots: directory.snapshots,
            origin: place.keys.log.verifierKey.name, vrf: place.keys.vrf,
            database: directory.database,
            paths: directory.paths, clock: place.time, logger: Place.silent, nonceCapacity: 4)
        let mallory = try Person("mallory@example.org")
        let submission = try await mallory.submission(devices: mallory.devices, at: small)
        for _ in 0..<10 { _ = try await mallory.send(submission, to: small) }
        #expect(small.nonces.count == 0)
        var alice = try Person("alice@example.org")
        try await alice.register(at: small)
        _ = try await alice.caller(.listFriends, at: small)
    }

    @Test func register_refusesADeviceKeyOfAnotherAccount() async throws {
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        var bob = try Person("bob@example.org")
        bob.devices = [try Device(1, signing: alice.devices[0].signing)]
        #expect(try await refusal { try await bob.register(at: directory) } == .keyInUse)
        guard case .absent = try await place.verifiedAnswer(about: bob.handle, at: directory) else {
            Issue.record("registered all the same")
            return
        }
    }

    // MARK: Cards

    @Test func register_refusesADeviceWithoutACard() async throws {
        let alice = try Person("alice@example.org", deviceCount: 2)
        let cards = [try await alice.devices[0].card(for: alice.handle, at: directory)]
        #expect(try await refusal { try await send(alice, cards) } == .possessionNotProven)
    }

    @Test func register_refusesACardOfADeviceOutsideTheState() async throws {
        let alice = try Person("alice@example.org")
        let cards = [
            try await alice.devices[0].card(for: alice.handle, at: directory),
            try await Device(2).card(for: alice.handle, at: directory),
        ]
        #expect(try await refusal { try await send(alice, cards) } == .badRequest)
    }

    @Test func register_refusesTwoCardsOfOneDevice() async throws {
        let alice = try Person("alice@example.org")
        let card = try await alice.devices[0].card(for: alice.handle, at: directory)
        #expect(try await refusal { try await send(alice, [card, card]) } == .badRequest)
    }

    @Test func register_refusesACardForAnotherHandle() async throws {
        let alice = try Person("alice@example.org")
        let other = try Handle(typed: Array("alice@example.net".utf8))
        let card = try await alice.devices[0].card(for: other, at: directory)
        #expect(try await refusal { try await send(alice, [card]) } == .possessionNotProven)
    }

    @Test func register_refusesACardForAnotherProcessesChallenge() async throws {
        let alice = try Person("alice@example.org")
        let elsewhere = try await Place().create()
        let card = try await alice.devices[0].card(for: alice.handle, at: elsewhere)
        #expect(try await refusal { try await send(alice, [card]) } == .possessionNotProven)
    }

    @Test func register_refusesACardForAnExpiredChallenge() async throws {
        let alice = try Person("alice@example.org")
        let card = try await alice.devices[0].card(for: alice.handle, at: directory)
        place.clock.advance(PossessionChallenge.lifetime + 1)
        #expect(
            try await refusal { try await send(alice, [card], time: place.clock.now) } == .possessionNotProven)
    }

    private func send(
        _ person: Person, _ cards: [DeviceCard], time: UInt64 = StandingClock.start
    ) async throws -> StateReceipt {
        let submission = try StateSubmission(
            state: person.nextState(devices: person.devices), opening: Person.opening(), cards: cards)
        return try await person.send(submission, to: directory, time: time)
    }
}
