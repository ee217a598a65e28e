import CanonicalCoding
import KeyTransparency
import Testing
import TransparencyLog

/// Request and response: read back, and never a trap on anything.
@Suite struct LookupMessageTests {
    @Test func requestReadsBackAndRefusesOtherForms() throws {
        let handle = try Handle(typed: Array("alice@example.org".utf8))
        let request = LookupRequest(handle: handle, knownSize: 1 << 40)
        #expect(try LookupRequest(decoding: request.encoded) == request)
        #expect(throws: LookupMessageError.unknownFormat) {
            try LookupRequest(decoding: Array("signet-lookup-request/v2\n".utf8) + [UInt8](repeating: 0, count: 20))
        }
        #expect(throws: LookupMessageError.malformed(.truncated(needed: 8, remaining: 3))) {
            try LookupRequest(decoding: Array(request.encoded.prefix(25 + 3)))
        }
        #expect(throws: LookupMessageError.invalidHandle(.notOneAtSign)) {
            try LookupRequest(decoding: request.encoded + Array("@x".utf8))
        }
    }

    @Test func responseReadsBack() throws {
        let alice = try PaperPerson("alice@example.org", seed: 10)
        var directory = try PaperDirectory()
        try directory.publish(alice)
        let response = try directory.answer(about: alice, knowing: 7)
        #expect(try LookupResponse(decoding: response.encoded) == response)
    }

    @Test func responseRefusesEachPartByName() throws {
        let alice = try PaperPerson("alice@example.org", seed: 10)
        var directory = try PaperDirectory()
        try directory.publish(alice)
        let golden = try directory.answer(about: alice).encoded
        func refusal(_ offset: Int, _ byte: UInt8) -> LookupMessageError? {
            var bytes = golden
            bytes[offset] = byte
            do throws(LookupMessageError) {
                _ = try LookupResponse(decoding: bytes)
                return nil
            } catch { return error }
        }
        #expect(refusal(0, 0) == .unknownFormat)
        #expect(refusal(97, 0) == .unknownStateKind(0))
        #expect(refusal(97, 9) == .unknownStateKind(9))
        let pathLength = 97 + 1 + 32 + 2 + (try alice.state().encoded.count) + 8
        #expect(refusal(pathLength, 64) == .pathTooLong(64))
        guard case .invalidVRFProof = refusal(17 + 31, 0xFF) else {
            Issue.record("a proof that is no point was taken")
            return
        }
    }

    /// Accepted bytes must print back unchanged, whatever was mutated.
    @Test(arguments: 0..<8) func mutatedMessagesNeverTrapAndNeverHaveTwoSpellings(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let alice = try PaperPerson("alice@example.org", seed: 10)
        var directory = try PaperDirectory()
        try directory.publish(alice)
        let golden = try directory.answer(about: alice, knowing: 9).encoded
        let request = LookupRequest(handle: alice.handle, knownSize: 5).encoded
        let state = try alice.state().encoded
        for _ in 0..<400 {
            let response = random.mutated(golden)
            if let read = try? LookupResponse(decoding: response) { #expect(read.encoded == response) }
            let question = random.mutated(request)
            if let read = try? LookupRequest(decoding: question) { #expect(read.encoded == question) }
            let body = random.mutated(state)
            if let read = try? AccountState(decoding: body) { #expect(read.encoded == body) }
        }
    }
}

/// A small seeded generator (SplitMix64, Steele, Lea and Flood 2014): the same mutations on every run.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// One to four edits: flip, overwrite, insert, delete, repeat a run, cut.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...below(4) {
            guard !bytes.isEmpty else { break }
            let place = below(bytes.count)
            switch below(6) {
            case 0: bytes[place] ^= 1 << below(8)
            case 1: bytes[place] = UInt8(truncatingIfNeeded: next())
            case 2: bytes.insert(UInt8(truncatingIfNeeded: next()), at: place)
            case 3: bytes.remove(at: place)
            case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + below(40))], at: place)
            default: bytes.removeLast(below(min(bytes.count, 50)))
            }
        }
        return bytes
    }
}
