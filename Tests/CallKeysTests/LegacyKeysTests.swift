// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import CallKeys

/// The three keys of the guide.
struct LegacyKeysTests {
    private let keys = (0..<4).map { SymmetricKey(data: [UInt8](repeating: UInt8($0), count: 32)) }

    private func frame(_ number: Int) throws -> [UInt8] {
        var sender = LegacyKeys.session()
        sender.setCurrent(keys[number], at: 0)
        return try sender.seal([1, 2])
    }

    private func outcome(
        _ receiver: inout LegacyKeys, _ frame: [UInt8], at now: UInt64
    ) -> Result<LegacyKeys.Slot, LegacyFailure> {
        do throws(LegacyFailure) { return .success(try receiver.open(frame, at: now).by) } catch {
            return .failure(error)
        }
    }

    @Test func currentThenBackupThenFuture() throws {
        var receiver = LegacyKeys.session()
        receiver.setCurrent(keys[0], at: 0)
        receiver.setCurrent(keys[1], at: 0)
        receiver.setFuture(keys[2], at: 0)
        #expect(outcome(&receiver, try frame(1), at: 1) == .success(.current))
        #expect(outcome(&receiver, try frame(0), at: 1) == .success(.backup))
        #expect(outcome(&receiver, try frame(2), at: 1) == .success(.future))
        #expect(outcome(&receiver, try frame(3), at: 1) == .failure(.mediaDecryptFailed))
    }

    @Test func theBackupStays120SecondsOrFor_audio_30_andTheFuture60() throws {
        for (make, retention, reason) in [
            (LegacyKeys.session, 120_000, LegacyFailure.mediaDecryptFailed),
            (LegacyKeys.audio, 30_000, .audioDecryptFailed),
        ] as [(() -> LegacyKeys, UInt64, LegacyFailure)] {
            var receiver = make()
            receiver.setCurrent(keys[0], at: 0)
            receiver.setCurrent(keys[1], at: 1000)
            receiver.setFuture(keys[2], at: 1000)
            #expect(outcome(&receiver, try frame(0), at: 999 + retention) == .success(.backup))
            #expect(outcome(&receiver, try frame(0), at: 1000 + retention) == .failure(reason))
            receiver.setFuture(keys[2], at: 1000)
            #expect(outcome(&receiver, try frame(2), at: 60_999) == .success(.future))
            #expect(outcome(&receiver, try frame(2), at: 61_000) == .failure(reason))
        }
    }

    @Test func afterFiftyMissesASecondNothingIsTried() throws {
        var receiver = LegacyKeys.session()
        receiver.setCurrent(keys[0], at: 0)
        for _ in 0..<50 { #expect(outcome(&receiver, try frame(3), at: 5) == .failure(.mediaDecryptFailed)) }
        #expect(outcome(&receiver, try frame(0), at: 6) == .failure(.tooManyTries))
        #expect(outcome(&receiver, try frame(0), at: 1006) == .success(.current))
    }

    @Test func withoutAKeyNothingIsSealed() {
        let sender = LegacyKeys.session()
        #expect(throws: LegacyFailure.noKey) { try sender.seal([1]) }
    }

    private struct Asker {
        var requests = LegacyKeyRequests()

        mutating func expect(
            _ isAsked: Bool, _ failure: LegacyFailure, isHost: Bool = false, at now: UInt64,
            _ location: SourceLocation = #_sourceLocation
        ) {
            let asks = requests.ask(because: failure, isHost: isHost, at: now)
            #expect(asks == isAsked, sourceLocation: location)
        }
    }

    /// `keyRequestDedupeInterval`, `keyRequestCooldown` and `keyResponseTimeout` of the call guide: 1 s, 3 s, 10 s.
    @Test func aRequestWaitsTenSecondsForItsAnswer_andTheNextComesAfterThree() {
        var asker = Asker()
        asker.expect(true, .mediaDecryptFailed, at: 5000)
        for later in [5000, 5999, 7999, 14_999] as [UInt64] { asker.expect(false, .audioDecryptFailed, at: later) }
        asker.expect(true, .audioDecryptFailed, at: 15_000)
        asker.requests.complete()
        asker.expect(false, .mediaDecryptFailed, at: 17_999)
        asker.expect(true, .mediaDecryptFailed, at: 18_000)
    }

    @Test func theGuidesHostAsksNoMember_andAFloodAsksNothing() {
        var asker = Asker()
        asker.expect(false, .mediaDecryptFailed, isHost: true, at: 5000)
        asker.expect(false, .tooManyTries, at: 5000)
        asker.expect(false, .noKey, at: 5000)
        asker.expect(true, .audioDecryptFailed, at: 5000)
    }
}
