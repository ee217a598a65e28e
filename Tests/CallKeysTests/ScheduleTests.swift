// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import SFrame
import Testing

@testable import CallKeys

struct ScheduleTests {
    private func scope(_ term: UInt32 = 1, _ generation: UInt32 = 1, call: UInt8 = 3) throws -> CallScope {
        CallScope(
            callID: try #require(CallID([UInt8](repeating: call, count: 16))), term: term, generation: generation)
    }

    @Test func everythingIsPartOfADerivedKey() throws {
        let secret = try #require(GroupSecret(SymmetricKey(data: [UInt8](repeating: 1, count: 32))))
        let keys = [
            secret.mediaKey(step: 0, in: try scope()), secret.mediaKey(step: 1, in: try scope()),
            secret.mediaKey(step: 0, in: try scope(2)), secret.mediaKey(step: 0, in: try scope(1, 2)),
            secret.mediaKey(step: 0, in: try scope(call: 4)), secret.turned(from: 0, in: try scope()).key,
            secret.turned(from: 1, in: try scope()).key, secret.key,
            SymmetricKey(data: secret.commitment(in: try scope())),
        ]
        let bytes = keys.map { $0.withUnsafeBytes { Array($0) } }
        #expect(Set(bytes).count == keys.count)
        #expect(GroupSecret(SymmetricKey(size: .bits128)) == nil)
    }

    @Test func aDerivedKeyIsHKDFOfItsLabel() throws {
        let secret = [UInt8](repeating: 1, count: 32)
        let info =
            Array("signet-call-media/v1".utf8) + [UInt8](repeating: 3, count: 16) + [0, 0, 0, 2, 0, 0, 0, 5, 4]
        let expected = HMAC<SHA256>.authenticationCode(for: info + [1], using: SymmetricKey(data: secret))
        let derived = try #require(GroupSecret(SymmetricKey(data: secret))).mediaKey(step: 4, in: try scope(2, 5))
        #expect(derived.withUnsafeBytes { Array($0) } == Array(expected))
    }

    @Test func everyKeyIDIsReadBack() {
        for index: UInt16 in [0, 1, 63, 64, .max] {
            for context in MediaContext.allCases {
                for bits: UInt32 in 0..<16 {
                    let keyID = CallKeyID(index: index, context: context, generation: bits + 32, step: UInt8(bits))
                    #expect(CallKeyID(rawValue: keyID.rawValue) == keyID)
                    #expect(keyID.generationBits == UInt8(bits))
                    #expect(index >= 64 || keyID.rawValue < 1 << 16)
                }
            }
        }
        #expect(CallKeyID(rawValue: 1 << 26) == nil)
    }

    /// Two hosts that tenure apart give the same numbers; a member that came from one must have the other's secrets.
    @Test func theSecretOfOurHostTakesThePlaceOfAnothersWithTheSameNumber() throws {
        var generator = SystemRandomNumberGenerator()
        let (first, second) = (GroupSecret(using: &generator), GroupSecret(using: &generator))
        let cases: [(term: UInt32, hostTerm: UInt32, isProven: Bool, winner: GroupSecret)] = [
            (2, 2, true, second), (1, 1, true, second), (2, 2, false, first), (2, 3, true, first), (3, 3, true, first),
        ]
        for (term, tenure, isProven, winner) in cases {
            var ring = KeyRing(suites: CallSuites(), times: CallTimes())
            let known: UInt32 = term == 2 ? 1 : term == 1 ? 2 : 3
            ring.install(
                try scope(known, 5), step: 0, secret: first, members: [:], isProven: true, hostTerm: known, at: 0)
            ring.install(
                try scope(term, 5), step: 0, secret: second, members: [:], isProven: isProven, hostTerm: tenure, at: 0)
            #expect(ring.generations[5]?.newest.secret == winner)
        }
    }

    /// A member gave a later step of a secret that the host gave whole afterwards; long after, another has the same four bits.
    @Test func theKeysOfAMembersAnswerGoWithTheirGeneration() throws {
        var generator = SystemRandomNumberGenerator()
        let (early, late) = (try scope(1, 5), try scope(1, 21))
        let (first, second) = (GroupSecret(using: &generator), GroupSecret(using: &generator))
        let turned = first.turned(from: 0, in: early).turned(from: 1, in: early)
        let device = try #require(CallDevice([UInt8](repeating: 1, count: 32)))
        var ring = KeyRing(suites: CallSuites(), times: CallTimes())
        func opens(_ secret: GroupSecret, in scope: CallScope) throws -> Bool {
            var sender = KeyRing(suites: CallSuites(), times: CallTimes())
            sender.install(scope, step: 2, secret: secret, members: [:], isProven: true, hostTerm: 1, at: 0)
            let frame = try #require(sender.sealer(7, .audio, scope.epoch(2))).seal([1])
            let keyID = CallKeyID(index: 7, context: .audio, generation: scope.generation, step: 2)
            let held = HoldBuffer.Held(frame: frame, keyID: keyID, carriedFor: nil, arrivedAt: 0)
            if case .opened = ring.open(held, at: 0) { return true }
            return false
        }
        ring.install(early, step: 2, secret: turned, members: [7: device], isProven: false, hostTerm: 1, at: 0)
        #expect(try opens(turned, in: early))
        ring.install(early, step: 0, secret: first, members: [7: device], isProven: true, hostTerm: 1, at: 0)
        ring.install(late, step: 2, secret: second, members: [7: device], isProven: true, hostTerm: 1, at: 0)
        #expect(try opens(second, in: late))
    }

    @Test func aShortTagIsNeverChosen() throws {
        let suites = CallSuites(audio: .aes128CTRTag32, others: .aes256CTRTag32)
        let key = SymmetricKey(size: .bits256)
        for context in MediaContext.allCases {
            let keyID = CallKeyID(index: 0, context: context, generation: 1, step: 0)
            #expect(try #require(suites.frameKey(key, keyID)).suite.tagByteCount >= 10)
        }
    }
}
