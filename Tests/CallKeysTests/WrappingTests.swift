// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import CryptoExtras
import Testing

@testable import CallKeys

/// Drafts that become signed signals, and back.
struct WrappingTests {
    private struct Owner {
        let signing = Curve25519.Signing.PrivateKey()
        let agreement = P256.KeyAgreement.PrivateKey()
        let device: CallDevice

        init() throws { device = try #require(CallDevice(Array(signing.publicKey.rawRepresentation))) }
    }

    private func carry(
        _ draft: SignalDraft, from sender: Owner, to receiver: Owner, others: [Owner]
    ) throws -> OpenedSignal? {
        let call = try #require(Room.call)
        let signal = try draft.signed(by: sender.device, in: call) { device in
            others.first { $0.device == device }?.agreement.publicKey
        } sign: {
            try Array(sender.signing.signature(for: $0))
        }
        guard signal.content.recipient == nil || signal.content.recipient == receiver.device else { return nil }
        let verified = try Signal(decoding: signal.encoded).verify(for: receiver.device, in: call)
        return OpenedSignal(verified, for: receiver.device, with: receiver.agreement)
    }

    @Test func aCallWithRealSignaturesAndWraps() throws {
        let owners = try (0..<3).map { _ in try Owner() }
        var people = try owners.map {
            CallParticipant(
                callID: try #require(Room.call), device: $0.device, generator: SystemRandomNumberGenerator())
        }
        var now: UInt64 = 1_000_000
        func step(_ number: Int, _ event: CallEvent) throws {
            for action in people[number].handle(event, at: now) {
                switch action {
                case .send(let draft):
                    for other in 0..<3 where other != number {
                        guard let signal = try carry(draft, from: owners[number], to: owners[other], others: owners)
                        else {
                            continue
                        }
                        try step(other, .signal(signal))
                    }
                case .admissionNeeded(let device): try step(number, .admit(device))
                default: break
                }
            }
        }
        try step(0, .start)
        for number in 1..<3 { try step(number, .join(trusting: [owners[0].device])) }
        try step(0, .suspect)
        now += 10
        #expect(people.map { $0.sending?.generation } == [2, 2, 2])
        let frame = try people[1].seal([5], .camera)
        let played = people[2].handle(.frame(frame), at: now).contains { if case .play = $0 { true } else { false } }
        #expect(played)
        #expect(frame.count == 1 + 2 + 1 + 16)
    }

    @Test func aWrapOpensForItsDeviceCallSenderEpochAndRequestOnly() throws {
        let (one, two) = (try Owner(), try Owner())
        let call = try #require(Room.call)
        let other = try #require(CallID([UInt8](repeating: 1, count: 16)))
        let epoch = Epoch(term: 1, generation: 2, step: 3)
        let nonce = [UInt8](repeating: 7, count: 16)
        var generator = SystemRandomNumberGenerator()
        let secret = GroupSecret(using: &generator)
        let scope = WrapScope(call, from: one.device, to: two.device, epoch, nonce)
        let wrap = try #require(scope.wrap(secret, to: two.agreement.publicKey))
        #expect(wrap.bytes.count == 113)
        #expect(scope.open(wrap, with: two.agreement) == secret)
        #expect(scope.open(wrap, with: one.agreement) == nil)
        let wrongScopes = [
            WrapScope(other, from: one.device, to: two.device, epoch, nonce),
            WrapScope(call, from: two.device, to: two.device, epoch, nonce),
            WrapScope(call, from: one.device, to: one.device, epoch, nonce),
            WrapScope(call, from: one.device, to: two.device, Epoch(term: 2, generation: 2, step: 3), nonce),
            WrapScope(call, from: one.device, to: two.device, Epoch(term: 1, generation: 3, step: 3), nonce),
            WrapScope(call, from: one.device, to: two.device, Epoch(term: 1, generation: 2, step: 4), nonce),
            WrapScope(call, from: one.device, to: two.device, epoch, [UInt8](repeating: 8, count: 16)),
        ]
        for wrong in wrongScopes { #expect(wrong.open(wrap, with: two.agreement) == nil) }
        for form in [WrapForm.legacyP256, .legacyRSA] {
            let relabeled = KeyWrap(recipient: two.device, epoch: epoch, form: form, bytes: wrap.bytes)
            #expect(scope.open(relabeled, with: two.agreement) == nil)
        }
    }

    @Test func theWrapsOfTheGuideOpenForTheirKeyOnly() throws {
        let key = SymmetricKey(size: .bits256)
        let (one, two) = (P256.KeyAgreement.PrivateKey(), P256.KeyAgreement.PrivateKey())
        let wrap = try LegacyWrap.wrapP256(key, to: one.publicKey)
        #expect(wrap.count == 65 + 12 + 32 + 16)
        #expect(try LegacyWrap.openP256(wrap, with: one) == key)
        #expect(throws: LegacyWrapError.notOpened) { try LegacyWrap.openP256(wrap, with: two) }
        #expect(throws: LegacyWrapError.notOpened) { try LegacyWrap.openP256([1], with: one) }
        let (rsa, otherRSA) = (
            try _RSA.Encryption.PrivateKey(keySize: .bits2048), try _RSA.Encryption.PrivateKey(keySize: .bits2048)
        )
        let wrapped = try LegacyWrap.wrapRSA(key, to: rsa.publicKey)
        #expect(wrapped.count == 256)
        #expect(try LegacyWrap.openRSA(wrapped, with: rsa) == key)
        #expect(throws: LegacyWrapError.notOpened) { try LegacyWrap.openRSA(wrapped, with: otherRSA) }
    }
}
