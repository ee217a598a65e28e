// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VRF

/// What a log ended with must be what it had shown, and what the next one begins with.
@Suite struct FormerVerifierTests {
    let scene: WatchScene
    init() throws { scene = try WatchScene() }

    private func log(_ scene: WatchScene? = nil) throws -> FormerLog {
        let directory = (scene ?? self.scene).directory
        return try FormerLog(trust: directory.trust(), note: directory.note(at: WatchScene.now))
    }

    private func answer(_ scene: WatchScene? = nil) throws -> [UInt8] {
        FormerResponse(consistency: ConsistencyProof(hashes: []), history: try (scene ?? self.scene).answer()).encoded
    }

    private func verify(
        _ bytes: [UInt8], in log: FormerLog, beginning: FormerBeginning
    ) throws(FormerRefusal) -> VerifiedHistory {
        try FormerVerifier(log).verify(bytes, for: scene.alice.handle, beginning: beginning)
    }

    private func known(_ count: Int, _ scene: WatchScene? = nil) throws -> FormerBeginning {
        .known(LabelHead(try (scene ?? self.scene).frontier(count).head))
    }

    private func last(_ history: VerifiedHistory) throws -> VerifiedLookup {
        guard case .registered(let lookup) = history.answer else { throw PaperFault.notThere }
        return lookup
    }

    @Test(arguments: 1...5) func former_acceptsEveryKnownHistory(_ count: Int) throws {
        let history = try verify(answer(), in: log(), beginning: known(count))
        #expect(history.entries.count == 5)
        #expect(try last(history).state.version == 2)
        #expect(try history.since(scene.frontier(count)).entries == Array(history.entries.dropFirst(count)))
    }

    /// The attack: a key was shown for an epoch, the index was put right, and the log was ended.
    @Test func former_refusesAKeyThatWasTakenBackBeforeTheEnd() throws {
        var flashed = scene
        let mallory = try flashed.alice.next(
            identity: P256.Signing.PrivateKey(rawRepresentation: Array(repeating: 99, count: 32)))
        try flashed.publish(mallory, onDay: 3)
        let seen = try LabelHead(flashed.tree().head(size: 6))
        #expect(throws: FormerRefusal.rewritten(known: 6, received: 5)) {
            try verify(answer(), in: log(), beginning: .known(seen))
        }
        let shorter = try LabelHead(flashed.tree().head(size: 4))
        let other = LabelHead(TreeHead(size: 4, root: .leaf([1])))
        #expect(try verify(answer(), in: log(), beginning: .known(shorter)).entries.count == 5)
        #expect(throws: FormerRefusal.rewritten(known: 4, received: 5)) {
            try verify(answer(), in: log(), beginning: .known(other))
        }
    }

    @Test func anotherMomentThanTheEndIsRefused() throws {
        let end = try log()
        var later = scene
        try later.publish(PaperPerson("eve@example.org", seed: 50), onDay: 3)
        let sizes = (later.directory.tree.size, scene.directory.tree.size)
        #expect(throws: FormerRefusal.anotherEnd(size: sizes.0, expected: sizes.1)) {
            try verify(answer(later), in: end, beginning: known(5))
        }
        #expect(try verify(answer(later), in: log(later), beginning: known(5)).entries.count == 5)
    }

    @Test func anotherLogsHistoryIsRefused() throws {
        var stranger = scene
        stranger.directory.log = try PaperDirectory.signer(PaperDirectory.origin, .ed25519, seed: 77)
        #expect { _ = try verify(answer(stranger), in: log(), beginning: known(5)) } throws: { error in
            if case FormerRefusal.history(.lookup(.logSignature)) = error { true } else { false }
        }
    }

    @Test func theEndMayBeYearsOld() throws {
        // The verifier has no clock: the end is judged as of the end.
        #expect(try verify(answer(), in: log(), beginning: known(0)).entries.count == 5)
    }

    /// A handover that was interrupted, or whose witnesses could not be reached, is completed a day later: nothing came
    /// after the end that the age of its epoch could hide.
    @Test func anEndMayHaveWaitedForItsWitnesses() throws {
        for (seen, isTaken) in [(WatchScene.now + 86_400, true), (WatchScene.now - 301, false)] {
            let end = try FormerLog(trust: scene.directory.trust(), note: scene.directory.note(at: seen))
            let bytes = FormerResponse(
                consistency: ConsistencyProof(hashes: []), history: try scene.answer(at: seen)
            ).encoded
            if isTaken {
                #expect(try verify(bytes, in: end, beginning: known(5)).entries.count == 5)
            } else {
                #expect(throws: FormerRefusal.self) { try verify(bytes, in: end, beginning: known(5)) }
            }
        }
    }

    @Test func former_refusesAnEndUnderAnotherPolicy() throws {
        var stranger = scene
        stranger.directory.log = try PaperDirectory.signer(PaperDirectory.origin, .ed25519, seed: 77)
        #expect(throws: CheckpointVerificationError.self) {
            _ = try FormerLog(trust: scene.directory.trust(), note: stranger.directory.note(at: WatchScene.now))
        }
    }

    // MARK: The log that goes on

    /// The next directory, which has other labels, and begins alice's with these people's states.
    private func successor(_ people: [PaperPerson]) throws -> WatchScene {
        var successor = scene
        successor.directory = try PaperDirectory(after: scene.directory.note(at: WatchScene.now))
        successor.directory.vrf = try VRFPrivateKey([9] + [UInt8](repeating: 0, count: 31))
        for person in people { try successor.publish(person, onDay: 3) }
        return successor
    }

    @Test func theNextLogBeginsWithWhatTheLastOneHeld() throws {
        let end = try last(verify(answer(), in: log(), beginning: known(5)))
        let later = try scene.alice.next()
        let next = try successor([scene.alice, later])
        let label = try next.directory.label(scene.alice.handle).hash
        #expect(end.inherited(under: label) == LabelHead(try next.tree().head(size: end.inheritedCount)))
        let found = try verify(
            FormerResponse(
                consistency: ConsistencyProof(hashes: []), history: next.answer(last: later)
            ).encoded, in: log(next), beginning: .inherited(end))
        #expect(found.entries.count == 5)
    }

    /// The attack: a handover as the occasion for another state, another device or another version.
    @Test func aNextLogThatBeginsOtherwiseIsRefused() throws {
        let end = try last(verify(answer(), in: log(), beginning: known(5)))
        let others = [
            scene.aliceBefore, try scene.alice.next(),
            try scene.aliceBefore.next(devices: scene.aliceBefore.devices + [PaperPerson.device(3, seed: 14)]),
        ]
        for other in others {
            let next = try successor([other])
            let verifier = LookupVerifier(trust: try next.directory.trust())
            var answer = try next.directory.answer(
                about: other, knowing: (0, min(end.inheritedCount, next.tree().size)))
            answer.note = try next.directory.note(at: WatchScene.now).encoded
            let bytes = answer.response.encoded
            let error = #expect(throws: LookupError.self) {
                _ = try verifier.verify(
                    bytes, for: other.handle, knowing: nil, history: verifier.inheritance(of: end, in: bytes),
                    at: WatchScene.now)
            }
            guard case .history = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    /// The attack: a handover as the occasion for a past that nobody saw.
    @Test func aNextLogThatIsDatedBeforeTheEndIsRefused() throws {
        let (end, lag) = (try log(), EpochTimeRule.standard.maximumLag)
        func check(_ from: UInt64, place: Int = 0) throws(SuccessionError) {
            let entries: [[UInt8]]
            do { entries = try PaperDirectory(from: from, after: end.end.note).entries } catch { throw .firstEntry }
            let epochs = entries.compactMap { try? EpochRecord(decoding: $0) }
            try end.checkSuccessor(beginningWith: entries[place], epochs.first)
        }
        for time in [WatchScene.now - lag, WatchScene.now, WatchScene.now + 99] { try check(time) }
        #expect(throws: SuccessionError.firstEpoch(.behind(seconds: lag + 1))) { try check(WatchScene.now - lag - 1) }
        #expect(throws: SuccessionError.firstEntry) { try check(WatchScene.now, place: 1) }
        #expect(throws: SuccessionError.firstEpoch(.emptyLog)) {
            try end.checkSuccessor(beginningWith: PredecessorRecord(note: end.end.note).entry, nil)
        }
        let later = try #require(scene.directory.lastRecord)
        #expect(throws: SuccessionError.firstEpoch(.start(later.start, size: 0))) {
            try end.checkSuccessor(beginningWith: PredecessorRecord(note: end.end.note).entry, later)
        }
    }

    // MARK: Messages

    @Test func messagesAreReadAsTheyArePrinted() throws {
        for handle in [nil, scene.alice.handle] {
            let request = FormerRequest(origin: try KeyName("example.org/log".utf8), knownSize: 300, handle: handle)
            #expect(try FormerRequest(decoding: request.encoded) == request)
            for count in 0..<request.encoded.count - (handle?.bytes.count ?? 0) {
                #expect(throws: LookupMessageError.self) {
                    _ = try FormerRequest(decoding: Array(request.encoded.prefix(count)))
                }
            }
        }
        let response = FormerResponse(
            consistency: ConsistencyProof(hashes: [.leaf([1]), .leaf([2])]), history: [1, 2, 3])
        #expect(try FormerResponse(decoding: response.encoded) == response)
        for count in 0..<response.encoded.count - 3 {
            #expect(throws: LookupMessageError.self) {
                _ = try FormerResponse(decoding: Array(response.encoded.prefix(count)))
            }
        }
    }

    @Test func former_refusesMalformedAnswers() throws {
        #expect(throws: FormerRefusal.self) { try verify([], in: log(), beginning: known(5)) }
        let empty = FormerResponse(consistency: ConsistencyProof(hashes: []), history: []).encoded
        #expect(throws: FormerRefusal.self) { try verify(empty, in: log(), beginning: known(5)) }
    }
}
