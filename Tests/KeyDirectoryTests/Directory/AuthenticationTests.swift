// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

@Suite(.everyEngine) struct AuthenticationTests {
    let place: Place
    let directory: Directory
    var alice: Person

    init() async throws {
        place = try Place()
        directory = try await place.create()
        alice = try Person("alice@example.org")
        try await alice.register(at: directory)
    }

    @Test func authenticate_namesTheHandleAndTheKeyOfAnActiveDevice() async throws {
        let caller = try await alice.caller(at: directory)
        #expect(caller.handle == alice.handle)
        #expect(caller.deviceKey == alice.devices[0].record.keys.signing)
    }

    @Test func authenticate_refusesARepeatedRequest() async throws {
        let (signature, content) = try alice.devices[0].sign(
            .listFriends, [], at: directory, time: place.clock.now)
        _ = try await directory.authenticate(signature, content)
        #expect(try await refusal { try await directory.authenticate(signature, content) } == .replayed)
    }

    @Test func authenticate_acceptsTheSameNonceFromTwoDevices() async throws {
        var bob = try Person("bob@example.org")
        try await bob.register(at: directory)
        let nonce = [UInt8](repeating: 9, count: 16)
        for device in [alice.devices[0], bob.devices[0]] {
            let (signature, content) = try device.sign(
                .listFriends, [], at: directory, time: place.clock.now, nonce: nonce)
            _ = try await directory.authenticate(signature, content)
        }
    }

    @Test(arguments: [-301, 301]) func authenticate_refusesAClockThatDiffersByMoreThanFiveMinutes(
        difference: Int
    ) async throws {
        let time = UInt64(Int(place.clock.now) + difference)
        let (signature, content) = try alice.devices[0].sign(.listFriends, [], at: directory, time: time)
        #expect(try await refusal { try await directory.authenticate(signature, content) } == .wrongTime)
    }

    @Test(arguments: [-300, 300]) func authenticate_acceptsAClockThatDiffersByFiveMinutes(difference: Int) async throws
    {
        let time = UInt64(Int(place.clock.now) + difference)
        let (signature, content) = try alice.devices[0].sign(.listFriends, [], at: directory, time: time)
        #expect(try await directory.authenticate(signature, content).handle == alice.handle)
    }

    @Test func authenticate_refusesASignatureOfAnotherBody() async throws {
        let (signature, _) = try alice.devices[0].sign(.listFriends, [], at: directory, time: place.clock.now)
        let other = RequestSignature.Content(.listFriends, origin: directory.origin, body: [1])
        #expect(try await refusal { try await directory.authenticate(signature, other) } == .notSigned)
    }

    @Test func authenticate_refusesASignatureForAnotherDirectory() async throws {
        let device = alice.devices[0]
        let content = RequestSignature.Content(.listFriends, origin: Array("other.example/log".utf8), body: [])
        let signature = try RequestSignature(
            content, deviceKey: device.record.keys.signing, time: place.clock.now,
            nonce: Array(repeating: 1, count: 16)
        ) { Array(try device.signing.signature(for: $0)) }
        #expect(try await refusal { try await directory.authenticate(signature, content) } == .notSigned)
    }

    @Test func authenticate_refusesADeviceOfNoAccount() async throws {
        let stranger = try Device(1)
        #expect(
            try await refusal { try await stranger.caller(.listFriends, at: directory) } == .notYourAccount)
    }

    @Test mutating func authenticate_refusesARevokedDevice() async throws {
        let second = try alice.newDevice()
        try await alice.change(to: alice.devices + [second], at: directory)
        _ = try await second.caller(.listFriends, at: directory)
        try await alice.change(to: [alice.devices[0]], at: directory)
        #expect(
            try await refusal { try await second.caller(.listFriends, at: directory) } == .notYourAccount)
    }

    @Test func aRefusedRequestUsesUpNoNonce() async throws {
        let before = directory.nonces.count
        let stranger = try Device(1)
        _ = try await refusal { try await stranger.caller(.listFriends, at: directory) }
        #expect(directory.nonces.count == before)
    }

    @Test func moreSignedRequestsThanCanBeRememberedAreRefused() async throws {
        let small = Directory(
            log: directory.log, epochs: directory.epochs, snapshots: directory.snapshots,
            origin: place.keys.log.verifierKey.name, vrf: place.keys.vrf,
            database: directory.database,
            paths: directory.paths, clock: place.time,
            logger: Place.silent, nonceCapacity: 1)
        _ = try await alice.caller(.listFriends, at: small)
        #expect(try await refusal { try await alice.caller(.listFriends, at: small) } == .unavailable)
    }

    @Test func challenge_refusesAnInvalidAgreementKey() async throws {
        let keys = alice.devices[0].record.keys
        let request = PossessionRequest(
            handle: alice.handle,
            keys: try DeviceKeys(
                signing: keys.signing, agreement: keys.agreement, kem: Array(repeating: 0xFF, count: 1216)))
        #expect(try await refusal { try await directory.challenge(request) } == .badRequest)
    }
}

@Suite struct NonceWindowTests {
    private func signature(_ number: UInt8) throws -> RequestSignature { try signature(nonce: UInt64(number)) }

    private func signature(nonce number: UInt64) throws -> RequestSignature {
        let content = RequestSignature.Content(.listFriends, origin: [], body: [])
        let nonce = (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } + [UInt8](repeating: 0, count: 8)
        return RequestSignature(
            content, deviceKey: Array(repeating: 1, count: 32), time: 0, nonce: nonce,
            sign: { _ in Array(repeating: 0, count: 64) })
    }

    @Test func aNonceIsRememberedForAsLongAsItsRequestStaysInTime() throws {
        let window = NonceWindow(capacity: 1 << 10, at: 1000)
        #expect(try window.take(signature(1), for: 1, at: 1600) == .new)
        #expect(try window.take(signature(2), for: 1, at: 1601) == .new)
        #expect(try window.take(signature(1), for: 1, at: 1600 + 600) == .replayed)
    }

    @Test func aNonceIsForgottenAfterwards() throws {
        let window = NonceWindow(capacity: 1 << 10, at: 1000)
        #expect(try window.take(signature(1), for: 1, at: 1000) == .new)
        #expect(try window.take(signature(2), for: 1, at: 1601) == .new)
        #expect(try window.take(signature(3), for: 1, at: 2202) == .new)
        #expect(window.count == 2)
    }

    @Test func aLongPauseForgetsAllNonces() throws {
        let window = NonceWindow(capacity: 1 << 10, at: 1000)
        #expect(try window.take(signature(1), for: 1, at: 1000) == .new)
        #expect(try window.take(signature(2), for: 1, at: 9000) == .new)
        #expect(window.count == 1)
    }

    @Test func aClockThatGoesBackForgetsNoNonce() throws {
        let window = NonceWindow(capacity: 1 << 10, at: 1000)
        #expect(try window.take(signature(1), for: 1, at: 1000) == .new)
        #expect(try window.take(signature(1), for: 1, at: 10) == .replayed)
    }

    @Test func aFullWindowRefusesNewNoncesAndForgetsNone() throws {
        let window = NonceWindow(capacity: 2, at: 1000)
        #expect(try window.take(signature(1), for: 1, at: 1000) == .new)
        #expect(try window.take(signature(2), for: 2, at: 1000) == .new)
        #expect(try window.take(signature(3), for: 3, at: 1000) == .full)
        #expect(try window.take(signature(1), for: 1, at: 1000) == .replayed)
    }

    /// A hundred accounts that send as many requests as they can leave half of the window free, so that any other
    /// account has room.
    @Test func aHundredAccountsAtTheirLimitLeaveRoomForAnotherAccount() throws {
        let window = NonceWindow(capacity: 1 << 13, at: 1000)
        var number: UInt64 = 0
        for _ in 0..<100 {
            for account in 1...100 as ClosedRange<Int64> {
                number += 1
                _ = window.take(try signature(nonce: number), for: account, at: 1000)
            }
        }
        #expect(window.count < 1 << 12)
        #expect(window.take(try signature(nonce: 0), for: 1000, at: 1000) == .new)
        #expect(window.take(try signature(nonce: .max), for: 1, at: 1000) == .overShare)
    }

    /// Accounts cost little: enough of them fill any window. The first request of another account is answered still.
    @Test func aFullWindowTakesTheFirstRequestOfANewAccount() throws {
        let window = NonceWindow(capacity: 1 << 16, at: 1000)
        var number: UInt64 = 0
        var outcome = NonceWindow.Outcome.new
        for account in Int64(1)... {
            repeat {
                number += 1
                outcome = window.take(try signature(nonce: number), for: account, at: 1000)
            } while outcome == .new
            if outcome == .full { break }
        }
        #expect(window.count >= 1 << 16)
        #expect(window.take(try signature(nonce: .max), for: -1, at: 1000) == .new)
        #expect(window.take(try signature(nonce: .max), for: -1, at: 1000) == .replayed)
        #expect(window.take(try signature(nonce: .max - 1), for: -1, at: 1000) == .full)
    }

    @Test func anAccountsShareIsFreeAgainInTheNextGeneration() throws {
        let window = NonceWindow(capacity: 128, at: 1000)
        #expect(try window.take(signature(1), for: 1, at: 1000) == .new)
        #expect(try window.take(signature(2), for: 1, at: 1000) == .overShare)
        #expect(try window.take(signature(2), for: 1, at: 1601) == .new)
    }
}
