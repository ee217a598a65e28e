// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import KeyTransparency
import NoteLog
import NotesAPI
import Testing

/// Bodies of the notes routes: each has one spelling, and nothing else is read.
@Suite struct NoteBodyTests {
    let examples: NoteBodyExamples

    init() throws { examples = try NoteBodyExamples() }

    /// Reads bytes as a body of the same kind and spells it again.
    private func respelled(_ bytes: [UInt8], as body: any NoteBody) throws -> [UInt8] {
        try type(of: body).init(decoding: bytes).encoded
    }

    /// Whether bytes are refused, or are the one spelling of what they are read as.
    private func isRefusedOrCanonical(_ bytes: [UInt8], as body: any NoteBody) -> Bool {
        do { return try respelled(bytes, as: body) == bytes } catch { return true }
    }

    @Test func everyBodyReadsBack() throws {
        func readsBack<Body: NoteBody>(_ body: Body) throws -> Bool { try Body(decoding: body.encoded) == body }
        for body in try examples.bodies {
            let isSame = try readsBack(body)
            #expect(isSame, "\(type(of: body))")
        }
    }

    @Test func everyTruncationAndSurplusIsRefused() throws {
        for body in try examples.bodies {
            let bytes = body.encoded
            for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 97)) {
                #expect(throws: NoteBodyError.self, "\(type(of: body)) \(count)") {
                    _ = try respelled(Array(bytes.prefix(count)), as: body)
                }
            }
            #expect(throws: NoteBodyError.malformed(.trailingBytes(1)), "\(type(of: body))") {
                _ = try respelled(bytes + [0], as: body)
            }
        }
    }

    /// A login is named by 16 bytes, or is sealed in 438: nothing between, before or behind.
    @Test func aLoginHasOneOfTwoLengths() throws {
        for count in 0..<600 {
            let challenge = try? LoginChallenge(decoding: [UInt8](repeating: 7, count: count + 320))
            let end = try? LoginEnd(decoding: [UInt8](repeating: 7, count: count + 64))
            #expect(challenge?.login.count == (count == 16 || count == 438 ? count : nil))
            #expect(end?.login.count == (count == 16 || count == 438 ? count : nil))
        }
    }

    @Test func whatIsReadAfterAMutationIsSpelledTheSameWay() throws {
        var random = Lottery(seed: 5)
        for body in try examples.bodies {
            let bytes = body.encoded
            for _ in 0..<60 {
                var mutated = bytes
                for _ in 0...random.next(below: 3) {
                    let index = random.next(below: mutated.count)
                    switch random.next(below: 4) {
                    case 0: mutated[index] ^= 1 << UInt8(random.next(below: 8))
                    case 1: mutated[index] = UInt8(random.next(below: 256))
                    case 2: mutated.insert(UInt8(random.next(below: 256)), at: index)
                    default: if mutated.count > 1 { mutated.remove(at: index) }
                    }
                }
                #expect(isRefusedOrCanonical(mutated, as: body), "\(type(of: body))")
            }
        }
    }

    /// Small bodies: every byte, every value.
    @Test func noOtherValueOfAByteHasASecondSpelling() throws {
        for body in try examples.bodies where body.encoded.count < 64 {
            for index in body.encoded.indices {
                for value in UInt8.min ... .max {
                    var bytes = body.encoded
                    bytes[index] = value
                    #expect(isRefusedOrCanonical(bytes, as: body), "\(type(of: body)) \(index) \(value)")
                }
            }
        }
    }

    @Test func aRecordThatItsDeviceDidNotSignIsRefused() throws {
        let push = try NotePush(name: [UInt8](repeating: 0, count: 16), operation: .revision(examples.revision))
        var bytes = push.encoded
        bytes[bytes.count - 1] ^= 1
        #expect(throws: NoteBodyError.record(.invalidSignature)) { try NotePush(decoding: bytes) }
    }

    /// A push that leaves nothing out has one spelling, the one without a list.
    @Test func aPushThatLeavesNothingOutBringsNoListOfThat() throws {
        let push = ControlPush(entry: examples.rekey, children: ChildList([]))
        var bytes = try NotePush(name: [UInt8](1...16), operation: .control(push)).encoded
        bytes[NotePush.nameByteCount] = 4
        let list = ChildList([]).encoded
        let block = [0, 0, 0, UInt8(list.count)] + list
        #expect(throws: NoteBodyError.invalidField) { try NotePush(decoding: bytes + block) }
    }

    @Test func numbersOutOfTheirBoundsAreRefused() throws {
        let refused: [[UInt8]] = [
            FeedRequest(cursor: 0, limit: 0).encoded, FeedRequest(cursor: 0, limit: 1001).encoded,
        ]
        for bytes in refused {
            #expect(throws: NoteBodyError.invalidField) { try FeedRequest(decoding: bytes) }
        }
        #expect(throws: NoteBodyError.invalidField) {
            try WaitRequest(decoding: WaitRequest(cursor: 0, seconds: 26).encoded)
        }
        let blob = try unwrapped(BlobID([UInt8](repeating: 1, count: 16)))
        for count: UInt8 in [0, 17] {
            let request = ChunkRequest(note: examples.note, blob: blob, first: 0, count: count)
            #expect(throws: NoteBodyError.invalidField) { try ChunkRequest(decoding: request.encoded) }
        }
        #expect(throws: NoteBodyError.invalidField) { try NotePushes([]) }
        #expect(throws: NoteBodyError.invalidField) { try OwnWrapChanges([]) }
        #expect(throws: NoteBodyError.invalidField) { try NotePushes(decoding: [0]) }
    }

    @Test func aPageWhosePositionsDoNotRiseIsRefused() throws {
        let item = FeedItem.gone(examples.note)
        for (first, second, next, newest): (UInt64, UInt64, UInt64, UInt64) in [
            (4, 4, 5, 5), (5, 4, 5, 5), (4, 6, 5, 6), (4, 5, 5, 4),
        ] {
            let page = FeedPage(
                entries: [FeedPage.Entry(position: first, item: item), FeedPage.Entry(position: second, item: item)],
                next: next, newest: newest)
            #expect(throws: NoteBodyError.invalidField) { try FeedPage(decoding: page.encoded) }
        }
    }

    @Test func devicesOutOfOrderAreRefused() throws {
        let keys = AccountKeys(
            version: 0,
            devices: [[UInt8](repeating: 1, count: 32): [1], [UInt8](repeating: 2, count: 32): [1]])
        let bytes = keys.encoded
        let (start, one) = (Array(bytes.prefix(11)), Array(bytes.dropFirst(11).prefix(37)))
        #expect(throws: NoteBodyError.invalidField) {
            try AccountKeys(decoding: start + bytes.suffix(37) + one)
        }
        #expect(throws: NoteBodyError.invalidField) { try AccountKeys(decoding: start + one + one) }
    }

    @Test func everyPathIsOnceAndItsBodiesFit() throws {
        #expect(Set(NoteRoute.allCases.map(\.path)).count == NoteRoute.allCases.count)
        let fullUpload = ChunkUpload.chunkByteCount * ChunkUpload.maximumCount + 64
        #expect(fullUpload < NoteRoute.putChunks.maximumRequestByteCount)
        #expect(AccountHeadChange.maximumNotesByteCount + 1024 < NoteRoute.putAccountHead.maximumRequestByteCount)
        let heads = AccountHeadsAnswer.maximumCount * (AccountHead.maximumByteCount + 4)
        #expect(heads + AccountHeadChange.maximumNotesByteCount < NoteRoute.accountHeads.maximumAnswerByteCount)
        let keys = AccountKeys.maximumDeviceCount * (AccountKeys.maximumDeviceWrapByteCount + 36) + 2048
        #expect(keys < NoteRoute.putAccountKeys.maximumRequestByteCount)
    }

    @Test func aGrantOpensInItsLoginOnly() throws {
        let (key, login) = (SymmetricKey(size: SymmetricKeySize(bitCount: 512)), [UInt8](repeating: 1, count: 16))
        let grant = LoginGrant(version: 7, wrap: [UInt8](repeating: 8, count: 200))
        let sealed = try grant.sealed(under: key, login: login)
        #expect(try LoginGrant(opening: sealed, with: key, login: login) == grant)
        #expect(throws: LoginGrantError.notOpened) {
            try LoginGrant(opening: sealed, with: SymmetricKey(size: SymmetricKeySize(bitCount: 512)), login: login)
        }
        #expect(throws: LoginGrantError.notOpened) {
            try LoginGrant(opening: sealed, with: key, login: [UInt8](repeating: 2, count: 16))
        }
        let largest = LoginGrant(version: 7, wrap: [UInt8](repeating: 8, count: AccountKeys.maximumWrapByteCount))
        #expect(try largest.sealed(under: key, login: login).count <= LoginGrant.maximumByteCount)
    }
}

/// SplitMix64: the same numbers in every run.
private struct Lottery {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(below bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ (value >> 31)) % UInt64(bound))
    }
}
