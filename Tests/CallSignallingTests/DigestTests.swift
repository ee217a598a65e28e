// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import CallSignalling

/// What a member signs of its frames is read strictly.
struct DigestTests {
    private typealias Sent = FrameDigest.Sent
    private typealias Stream = FrameDigest.Stream

    private static func epoch(_ generation: UInt32, _ step: UInt8 = 0) -> Epoch {
        Epoch(term: 2, generation: generation, step: step)
    }

    private func isRefused(heard: [UInt64] = [], _ sent: [Sent]) -> Bool {
        do throws(SignalDecodingError) { _ = try FrameDigest(mark: 1, heard: heard, sent: sent) } catch {
            return error == .invalidDigest
        }
        return false
    }

    private func part(_ streams: [Stream], _ generation: UInt32 = 7) -> Sent {
        Sent(epoch: Self.epoch(generation), index: 0, streams: streams)
    }

    private func stream(_ context: UInt8, _ count: UInt64 = 1, _ hashes: Range<UInt64> = 0..<0) -> Stream {
        Stream(context: context, count: count, hashes: Array(hashes))
    }

    @Test func aDigestHasOneToThreeEpochs_newestFirst() {
        #expect(isRefused([]))
        #expect(!isRefused([part([], 3), part([], 2), part([], 1)]))
        #expect(isRefused([part([], 4), part([], 3), part([], 2), part([], 1)]))
        #expect(isRefused([part([], 1), part([], 2)]) && isRefused([part([], 2), part([], 2)]))
    }

    @Test func marksRise_andHaveRoomWithTheHashes() {
        #expect(isRefused(heard: [2, 1], [part([])]) && isRefused(heard: [2, 2], [part([])]))
        #expect(!isRefused(heard: Array(0..<12), [part([stream(0, 100, 0..<100)])]))
        #expect(isRefused(heard: Array(0..<13), [part([stream(0, 100, 0..<100)])]))
    }

    @Test func contextsRise_upToTheLastThatThereIs() {
        #expect(!isRefused([part((0..<4).map { stream($0) })]))
        #expect(isRefused([part([stream(4)])]))
        #expect(isRefused([part([stream(1), stream(0)])]) && isRefused([part([stream(1), stream(1)])]))
    }

    @Test func aContextHasFrames_asManyAsItHasHashes_andNoneBeyondTheLast() {
        #expect(isRefused([part([stream(0, 0)])]) && isRefused([part([stream(0, 1, 0..<2)])]))
        #expect(!isRefused([part([stream(0, 1 << 32)])]) && isRefused([part([stream(0, 1 << 32 + 1)])]))
    }

    /// What is too much is refused before it is read.
    @Test func aCountAloneTakesNoMemory() throws {
        let cast = try Cast()
        func change(_ offset: Int, _ value: UInt8) throws -> SignalDecodingError? {
            var bytes = try cast.host.sign(cast.content(.digest(try cast.digest()))).encoded
            bytes[22 + 16 + 32 + 32 + 4 + 8 + 8 + 2 + 1 + offset] = value
            do throws(SignalDecodingError) { _ = try Signal(decoding: bytes) } catch { return error }
            return nil
        }
        // Marks, epochs, contexts, hashes.
        #expect(try change(8, 113) == .invalidDigest)
        #expect(try change(8 + 1 + 16, 4) == .invalidDigest)
        #expect(try change(8 + 1 + 16 + 1 + 9 + 2, 5) == .invalidDigest)
        #expect(try change(8 + 1 + 16 + 1 + 9 + 2 + 1 + 1 + 8, 111) == .invalidDigest)
    }

    @Test func theHashIsOfTheWholeFrame() {
        // printf 'signet-call-frame/v1\001\002' | sha256sum
        #expect(FrameDigest.hash(of: [1, 2]) == 0x42668281E8933DD4)
    }
}
