import CanonicalCoding
import Crypto
import DeviceIdentity
import KeyTransparency
import SeededRandomness
import Testing

@testable import SocialRecovery

@Suite struct RequestTests {
    let world: World
    let device = NewDevice()
    let request: RecoveryRequest

    init() throws {
        world = try World()
        request = try device.request(world.scope)
    }

    @Test func aRequestComesBack() throws {
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

    @Test func aRequestIsReadWholeOrNotAtAll() {
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
        created: UInt64 = 1, expires: UInt64 = 2, name: [UInt8] = [], agreement: [UInt8]? = nil,
        signer: P256.Signing.PrivateKey? = nil
    ) throws -> RecoveryRequest {
        try RecoveryRequest(
            scope: world.scope, identityKey: device.identity.publicBytes,
            agreementKey: agreement ?? device.agreement.publicBytes,
            signingKey: Array(device.signing.publicKey.rawRepresentation), reveal: device.reveal, created: created,
            expires: expires, claimedName: name, signing: (signer ?? device.identity).rawSignature)
    }

    @Test func aRequestThatEndsBeforeItBeginsIsRefused() {
        #expect(throws: RecoveryRequestError.invalidTimes) { try made(created: 2, expires: 2) }
    }

    @Test func aNameTooLongOrNoTextIsRefused() {
        #expect(throws: RecoveryRequestError.invalidName) { try made(name: [UInt8](repeating: 0x41, count: 65)) }
        #expect(throws: RecoveryRequestError.invalidName) { try made(name: [0xFF]) }
    }

    @Test func keysThatAreNoneAreRefused() {
        #expect(throws: RecoveryRequestError.invalidKey) { try made(agreement: [UInt8](repeating: 5, count: 33)) }
    }

    @Test func theNewIdentityKeyHasToSign() {
        #expect(throws: RecoveryRequestError.invalidSignature) { try made(signer: P256.Signing.PrivateKey()) }
    }

    @Test func bothSidesHaveTheSameCodeAndAStrangerHasAnother() throws {
        let number = [UInt8](repeating: 5, count: 32)
        let code = SpokenCode(request: request.hash, guardian: number, device: device.reveal)
        let stranger = try NewDevice().request(world.scope)
        #expect(code == SpokenCode(request: request.hash, guardian: number, device: device.reveal))
        #expect(code != SpokenCode(request: stranger.hash, guardian: number, device: device.reveal))
        #expect(code != SpokenCode(request: request.hash, guardian: device.reveal, device: number))
    }

    @Test func aCodeIsThreeWordsAndTwoDigits() throws {
        for seed in 0..<200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let number = (0..<32).map { _ in generator.next() as UInt8 }
            let code = SpokenCode(request: request.hash, guardian: number, device: device.reveal)
            let parts = code.text.split(separator: 0x20)
            #expect(parts.count == 4 && parts[3].count == 2 && parts[3].allSatisfy { (0x30...0x39).contains($0) })
            let typed = String(decoding: code.text, as: UTF8.self).uppercased().replacing(" ", with: "\n  ")
            #expect(code.matches(typed: bytes(typed)))
            #expect(!code.matches(typed: code.text.dropLast()))
            #expect(!code.matches(typed: code.text + [0x30]))
        }
    }
}
