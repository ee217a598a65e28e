// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
import KeyTransparency
import SeededRandomness
import Testing

@testable import SocialRecovery

@Suite struct RequestTests {
    let world: World
    let device: NewDevice
    let request: RecoveryRequest

    init() throws {
        world = try World()
        device = try NewDevice()
        request = try device.request(world.scope)
    }

    @Test func aRequestRoundTrips() throws {
        #expect(try RecoveryRequest(decoding: request.encoded) == request)
    }

    @Test func everyFlippedBitIsRefused() {
        let encoded = request.encoded
        for bit in stride(from: 0, to: encoded.count * 8, by: 3) {
            var changed = encoded
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: RecoveryRequestError.self) { try RecoveryRequest(decoding: changed) }
        }
    }

    @Test func aTruncatedOrExtendedRequestIsRefused() {
        for cut in 0..<request.encoded.count {
            #expect(throws: RecoveryRequestError.self) {
                try RecoveryRequest(decoding: Array(request.encoded.prefix(cut)))
            }
        }
        #expect(throws: RecoveryRequestError.malformed(.malformed(.trailingBytes(1)))) {
            try RecoveryRequest(decoding: request.encoded + [0])
        }
    }

    private func made(
        created: UInt64 = 1, expires: UInt64 = 2, name: [UInt8] = [], sealing: [UInt8]? = nil,
        signer: P256.Signing.PrivateKey? = nil
    ) throws -> RecoveryRequest {
        try RecoveryRequest(
            scope: world.scope, identityKey: device.identity.publicBytes,
            sealingKey: sealing ?? device.sealing.publicBytes,
            signingKey: Array(device.signing.publicKey.rawRepresentation), revealRoot: device.numbers.root,
            created: created, expires: expires, claimedName: name, signing: (signer ?? device.identity).rawSignature)
    }

    @Test func aRequestThatEndsBeforeItBeginsIsRefused() {
        #expect(throws: RecoveryRequestError.invalidTimes) { try made(created: 2, expires: 2) }
    }

    @Test func aNameTooLongOrNoTextIsRefused() {
        #expect(throws: RecoveryRequestError.invalidName) { try made(name: [UInt8](repeating: 0x41, count: 65)) }
        #expect(throws: RecoveryRequestError.invalidName) { try made(name: [0xFF]) }
    }

    @Test func malformedKeysAreRefused() {
        #expect(throws: RecoveryRequestError.invalidKey) { try made(sealing: [UInt8](repeating: 0xFF, count: 1216)) }
    }

    @Test func aRequestWithoutTheNewIdentitysSignatureIsRefused() {
        #expect(throws: RecoveryRequestError.invalidSignature) { try made(signer: P256.Signing.PrivateKey()) }
    }

    private func code(
        _ request: RecoveryRequest, of guardian: Int = 0, number: [UInt8], at place: UInt8 = 9
    ) -> SpokenCode {
        SpokenCode(
            request: request.hash, guardian: world.guardians[guardian].handle, number: number,
            reveal: device.numbers.reveal(at: place))
    }

    @Test func theSpokenCodeDependsOnEveryInput() throws {
        let number = [UInt8](repeating: 5, count: 32)
        let right = code(request, number: number)
        #expect(right == code(request, number: number))
        let stranger = try NewDevice().request(world.scope)
        #expect(right != code(stranger, number: number))
        #expect(right != code(request, of: 1, number: number), "a code for one guardian helps at no other")
        #expect(right != code(request, number: number, at: 10))
        #expect(right != code(request, number: [UInt8](repeating: 6, count: 32)))
    }

    @Test func aCodeIsThreeWordsAndTwoDigits() throws {
        for seed in 0..<200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let code = code(request, number: (0..<32).map { _ in generator.next() as UInt8 })
            let parts = code.text.split(separator: 0x20)
            #expect(parts.count == 4 && parts[3].count == 2 && parts[3].allSatisfy { (0x30...0x39).contains($0) })
            for space in ["\n  ", "-", ", "] {
                let typed = String(decoding: code.text, as: UTF8.self).uppercased().replacing(" ", with: space)
                #expect(code.matches(typed: bytes(typed)) && SpokenCode.isWhole(typed: bytes(typed)))
            }
            #expect(!code.matches(typed: code.text.dropLast()))
            #expect(!code.matches(typed: code.text + [0x30]))
        }
    }

    @Test func everyPlaceHasANumberOfItsOwnThatTheRootHolds() throws {
        let reveals = (0..<SpokenNumbers.placeCount).map { device.numbers.reveal(at: UInt8($0)) }
        #expect(Set(reveals.map(\.number)).count == SpokenNumbers.placeCount)
        #expect(reveals.allSatisfy { $0.isCommitted(by: request.revealRoot) })
        #expect(try SpokenReveal.list(decoding: reveals.flatMap(\.encoded)) == reveals)
        let other = SpokenNumbers(seed: [UInt8](repeating: 0x78, count: 32))
        #expect(!other.reveal(at: 3).isCommitted(by: request.revealRoot))
        #expect(!reveals[3].isCommitted(by: []))
    }

    @Test func everyFlippedBitOfARevealIsRefused() throws {
        let reveal = device.numbers.reveal(at: 200)
        for bit in 0..<SpokenReveal.byteCount * 8 {
            var changed = reveal.encoded
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let read = try SpokenReveal.list(decoding: changed)
            #expect(!read[0].isCommitted(by: request.revealRoot))
        }
        #expect(throws: RecoveryFormatError.self) { try SpokenReveal.list(decoding: reveal.encoded + [0]) }
    }

    @Test func aNumberCountsFromTheGuardiansDeviceForOneRequestOnly() throws {
        let (ana, ben) = (world.guardians[0], world.guardians[1])
        let drawn = [UInt8](repeating: 5, count: 32)
        let number = try #require(
            GuardianNumber(drawn, at: 9, for: request.hash, by: ana.handle, signing: ana.deviceSignature))
        let (anas, bens) = ([try ana.record()], [try ben.record()])
        #expect(number.isSigned(for: request.hash, by: ana.handle, anas))
        #expect(!number.isSigned(for: request.hash, by: ana.handle, bens))
        #expect(!number.isSigned(for: request.hash, by: ben.handle, anas))
        let again = try device.request(world.scope, created: World.now + 1)
        #expect(!number.isSigned(for: again.hash, by: ana.handle, anas))
        for bit in 0..<GuardianNumber.byteCount * 8 {
            var changed = number.encoded
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(try !GuardianNumber(decoding: changed).isSigned(for: request.hash, by: ana.handle, anas))
        }
    }
}

/// Finding 4: the server shows the person's new device one log and a guardian another, with a stranger's request in it, and
/// looks for a number that makes the two codes equal.
///
/// Codes are compared in a word and the digits, so that a test can search 10^5 of them in place of 10^11.
@Suite struct SpokenCodeSearchTests {
    let world: World
    let (device, stranger): (NewDevice, NewDevice)
    let (request, strangersRequest): (RecoveryRequest, RecoveryRequest)

    init() throws {
        world = try World()
        (device, stranger) = (try NewDevice(), try NewDevice())
        request = try device.request(world.scope)
        strangersRequest = try stranger.request(world.scope)
    }

    private var ben: Person { world.guardians[1] }

    /// The first word and the digits.
    private func short(_ code: SpokenCode) -> [[UInt8]] {
        let parts = code.text.split(separator: 0x20).map(Array.init)
        return [parts[0], parts[3]]
    }

    private func drawn(_ seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return (0..<32).map { _ in generator.next() }
    }

    /// What ben expects to hear: his own number is known to the server, and so is what the stranger's device reveals.
    private func bensCode(_ place: UInt8) -> SpokenCode {
        SpokenCode(
            request: strangersRequest.hash, guardian: ben.handle, number: drawn(1),
            reveal: stranger.numbers.reveal(at: place))
    }

    /// Searches a number in ben's name under which the person would read the same.
    private func search(knowing reveal: SpokenReveal, for place: UInt8) -> [UInt8]? {
        let wanted = short(bensCode(place))
        for seed in UInt64(2)..<4_000_000 {
            var number = [UInt8](repeating: 0, count: 32)
            for byte in 0..<8 { number[byte] = UInt8(truncatingIfNeeded: seed >> (8 * UInt64(byte))) }
            let code = SpokenCode(request: request.hash, guardian: ben.handle, number: number, reveal: reveal)
            if short(code) == wanted { return number }
        }
        return nil
    }

    /// As it was: the device had shown one number to everybody when ana had answered. And as it would be if the device
    /// showed ben's number before it kept his: the search finds its code.
    @Test func anAttackerWhoKnowsTheDevicesNumberFirstFindsACode() throws {
        let place = try world.packet(of: 1).place
        let reveal = device.numbers.reveal(at: place)
        let found = try #require(search(knowing: reveal, for: place))
        let heard = SpokenCode(request: request.hash, guardian: ben.handle, number: found, reveal: reveal)
        #expect(short(heard) == short(bensCode(place)))
    }

    /// What ana was shown does not tell what ben will be: the number found with it gives another code.
    @Test func anAttackerCannotSearchWithAnotherGuardiansNumber() throws {
        let (anas, bens) = (try world.packet(of: 0).place, try world.packet(of: 1).place)
        let shown = device.numbers.reveal(at: anas)
        // The search needs ben's number of the device; it has to guess it.
        var guessed = [bens] + shown.number
        guessed += shown.encoded.dropFirst(33)
        let guess = try SpokenReveal.list(decoding: guessed)[0]
        #expect(!guess.isCommitted(by: request.revealRoot))
        let found = try #require(search(knowing: guess, for: bens))
        let read = SpokenCode(
            request: request.hash, guardian: ben.handle, number: found, reveal: device.numbers.reveal(at: bens))
        let hoped = SpokenCode(request: request.hash, guardian: ben.handle, number: found, reveal: guess)
        #expect(short(hoped) == short(bensCode(bens)))
        #expect(read != hoped && read != bensCode(bens))
    }
}
