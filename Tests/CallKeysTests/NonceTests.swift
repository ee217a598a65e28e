// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import SFrame
import Testing

@testable import CallKeys

/// No key ever numbers two frames alike: whoever sees both would have the difference of the plaintexts.
struct NonceTests {
    private struct Number: Hashable {
        let keyID: UInt64
        let counter: UInt64
    }

    private func number(_ frame: [UInt8]) throws -> Number {
        let header = try FrameHeader(startOf: frame)
        return Number(keyID: header.keyID, counter: header.counter)
    }

    /// The second device missed the rotation after a leave and heard of the leave by another way; its time is over.
    private func roomWithAMemberWithoutTheNewSecret() throws -> Room {
        let room = try Room(4)
        room.isLost = { draft, to in
            to == 1 && (draft.body.isRotation || draft.body.isReply || draft.body.isCommit || draft.body.isHeartbeat)
        }
        room.step(2, .leave)
        room.wait(250, without: [2])
        let rotation = try #require(room.sent.last { $0.draft.body.isRotation }).draft
        let bare = OpenedSignal(
            sender: room.people[0].device, sequence: rotation.sequence, body: rotation.body, keys: [])
        room.step(1, .signal(bare))
        room.wait(800, without: [2])
        #expect(throws: CallSealError.noKey) { try room.people[1].seal([1], .audio) }
        return room
    }

    @Test func aSecondLeaveGivesNoMemberTheOldKeyBack() throws {
        let room = try Room(4)
        let first = try (0..<3).map { _ in try number(room.people[1].seal([1], .audio)) }
        let late = try roomWithAMemberWithoutTheNewSecret()
        late.step(3, .leave)
        late.wait(200, without: [1, 2, 3])
        let rotation = try #require(late.sent.last { $0.draft.body.isRotation }).draft
        late.step(1, .signal(late.opened(rotation, from: 0, for: 1)))
        // Between this signal and the next tick nothing may leave under the key of those who left.
        #expect(throws: CallSealError.noKey) { try late.people[1].seal([2], .audio) }
        late.step(1, .tick)
        let after = try number(late.people[1].seal([3], .audio))
        #expect(late.people[1].sending?.generation == 3 && !first.contains(after))
    }

    @Test func aMemberWithoutTheNewSecretStaysSilent() throws {
        let room = try roomWithAMemberWithoutTheNewSecret()
        #expect(room.people[1].sending == nil && room.people[1].code == nil)
        room.step(3, .leave)
        room.wait(200, without: [1, 2, 3])
        let rotation = try #require(room.sent.last { $0.draft.body.isRotation }).draft
        let bare = OpenedSignal(
            sender: room.people[0].device, sequence: rotation.sequence, body: rotation.body, keys: [])
        room.step(1, .signal(bare))
        #expect(throws: CallSealError.noKey) { try room.people[1].seal([1], .audio) }
    }

    @Test func aCopyFromBeforeTheFirstFrameSharesItsNumbers() throws {
        let room = try Room(2)
        var copy = room.people[1]
        let frames = [try room.people[1].seal([1], .audio), try copy.seal([2], .audio)]
        #expect(try Set(frames.map(number)).count == 2)
    }

    private let scope: CallScope

    init() throws {
        scope = CallScope(callID: try #require(Room.call), term: 1 << 16, generation: 5)
    }

    private func ring(with secret: GroupSecret, _ ring: KeyRing? = nil) -> KeyRing {
        var ring = ring ?? KeyRing(suites: CallSuites(), times: CallTimes())
        ring.install(scope, step: 0, secret: secret, members: [:], isProven: true, hostTerm: 1, at: 0)
        return ring
    }

    @Test(arguments: [false, true])
    func aKeyThatLeftTheRingAndComesBackSealsNothing(_ isWhole: Bool) throws {
        var generator = SystemRandomNumberGenerator()
        let secret = GroupSecret(using: &generator)
        var ring = ring(with: secret)
        #expect(ring.sealer(0, .audio, scope.epoch(0)) != nil)
        if isWhole { ring.removeAll() } else { ring.remove(scope.generation) }
        ring = self.ring(with: secret, ring)
        #expect(ring.sealer(0, .audio, scope.epoch(0)) == nil)
    }

    @Test func aKeyThatWasNeverUsedMayComeBack() throws {
        var generator = SystemRandomNumberGenerator()
        let secret = GroupSecret(using: &generator)
        var ring = ring(with: secret)
        ring.remove(scope.generation)
        #expect(self.ring(with: secret, ring).sealer(0, .audio, scope.epoch(0)) != nil)
    }

    @Test func aStepThatWasForgottenSealsNothing_andItsKeyIsGone() throws {
        var generator = SystemRandomNumberGenerator()
        var ring = ring(with: GroupSecret(using: &generator))
        #expect(ring.sealer(0, .audio, scope.epoch(0)) != nil)
        ring.advance(scope.generation, to: 1, at: 1000)
        ring.wipe(current: scope.generation, at: 20_000)
        #expect(ring.sealer(0, .audio, scope.epoch(0)) == nil && ring.sealer(0, .audio, scope.epoch(1)) != nil)
        #expect(ring.sealers.liveCount == 1)
    }
}
