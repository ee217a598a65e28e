// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LogEngine
import SignetTesting
import Testing
import TransparencyLog

@Suite struct ReadTests {
    @Test func tilesAndBundlesOfEveryWidthEqualAnIndependentComputation() async throws {
        let log = try await LogFixture().newLog(on: SimulatedDisk())
        let entries = LogFixture.entries(0..<600)
        for start in stride(from: 0, to: 600, by: 75) { _ = try await log.append(Array(entries[start..<start + 75])) }
        _ = try await log.awaitPublished(size: 600)
        for (index, available) in [256, 256, 88].enumerated() {
            for width in 1...available {
                let part = entries[256 * index..<256 * index + width]
                let bytes = try log.tile(level: 0, index: UInt64(index), width: width)
                #expect(bytes == part.flatMap { Reference.leaf($0) })
                let bundle = try await log.entryBundle(index: UInt64(index), width: width)
                #expect(bundle == Reference.bundle(part))
            }
        }
        let tops = [entries[..<256], entries[256..<512]].map { Reference.root($0.map(Reference.leaf)) }
        #expect(try log.tile(level: 1, index: 0, width: 1) == tops[0])
        #expect(try log.tile(level: 1, index: 0, width: 2) == tops[0] + tops[1])
        #expect(log.published.head.root.bytes == Reference.root(entries.map(Reference.leaf)))
        await log.close()
    }

    @Test func fullTilesAndBundlesAreFilesUnderTheirServedPaths() async throws {
        let disk = SimulatedDisk()
        let log = try await LogFixture().newLog(on: disk)
        let entries = LogFixture.entries(0..<513)
        _ = try await log.append(entries)
        await log.close()
        #expect(disk["tile/0/000"] == entries[..<256].flatMap { Reference.leaf($0) })
        #expect(disk["tile/0/001"] == entries[256..<512].flatMap { Reference.leaf($0) })
        #expect(disk["tile/entries/001"] == (try await log.entryBundle(index: 1)))
        #expect(disk.paths.filter { $0.hasPrefix("tile/") }.count == 4, "no partial tile is a file")
    }

    @Test func readsBeyondThePublishedSizeAreRefused() async throws {
        let log = try await LogFixture().newLog(on: SimulatedDisk())
        _ = try await log.append(LogFixture.entries(0..<300))
        _ = try await log.awaitPublished(size: 300)
        let refusal = DurableLogReadError.beyondPublished(size: 300)
        #expect(throws: refusal) { try log.tile(level: 0, index: 1, width: 45) }
        #expect(throws: refusal) { try log.tile(level: 1, index: 0, width: 2) }
        #expect(throws: refusal) { try log.tile(level: 8, index: 0, width: 1) }
        #expect(throws: refusal) { try log.tile(level: 0, index: .max, width: 1) }
        #expect(throws: refusal) { try log.root(size: 301) }
        #expect(throws: refusal) { try log.inclusionProof(index: 0, size: 301) }
        #expect(throws: refusal) { try log.consistencyProof(from: 0, to: 301) }
        await #expect(throws: refusal) { try await log.entry(at: 300) }
        #expect(throws: DurableLogReadError.tile(.widthOutOfRange(257))) {
            try log.tile(level: 0, index: 0, width: 257)
        }
        #expect(throws: DurableLogReadError.tile(.levelOutOfRange(64))) { try log.tile(level: 64, index: 0, width: 1) }
        await log.close()
    }

    @Test func proofsVerifyAgainstPublishedHeads() async throws {
        let log = try await LogFixture().newLog(on: SimulatedDisk())
        _ = try await log.append(LogFixture.entries(0..<100))
        let old = try await log.awaitPublished(size: 100).head
        _ = try await log.append(LogFixture.entries(100..<400))
        let new = try await log.awaitPublished(size: 400).head
        try log.consistencyProof(from: 100, to: 400).verify(from: old, to: new)
        let leaf = TreeHash.leaf(LogFixture.entries(37..<38)[0])
        try log.inclusionProof(index: 37, size: 100).verify(leaf: leaf, in: old)
        try log.inclusionProof(index: 37, size: 400).verify(leaf: leaf, in: new)
        await log.close()
    }

    @Test func aLeafIsFoundAtItsFirstIndexAlsoAfterReopening() async throws {
        let fixture = LogFixture()
        let disk = SimulatedDisk()
        var log = try await fixture.newLog(on: disk)
        let entries = LogFixture.entries(0..<2000)
        _ = try await log.append(entries)
        _ = try await log.append(Array(entries[5..<7]))
        for _ in 0..<2 {
            _ = try await log.awaitPublished(size: 2002)
            for index in entries.indices { #expect(log.index(ofLeaf: .leaf(entries[index])) == UInt64(index)) }
            #expect(log.index(ofLeaf: .leaf([1, 2, 3])) == nil)
            await log.close()
            log = try await fixture.log(on: disk)
        }
        await log.close()
    }

    @Test func aDamagedBundleFileIsNotServed() async throws {
        let disk = SimulatedDisk()
        let log = try await LogFixture().newLog(on: disk)
        _ = try await log.append(LogFixture.entries(0..<256))
        await log.close()
        var bytes = try #require(disk["tile/entries/000"])
        bytes[25] ^= 1
        disk["tile/entries/000"] = bytes
        await #expect(throws: DurableLogReadError.bundleDamaged(index: 0)) { try await log.entry(at: 2) }
        #expect(try await log.entry(at: 3) == LogFixture.entries(3..<4)[0])
        await #expect(throws: DurableLogReadError.bundleDamaged(index: 0)) { try await log.entryBundle(index: 0) }
        disk["tile/entries/000"] = nil
        await #expect(throws: DurableLogReadError.file(LogFileError(.open, of: .bundle, code: 2))) {
            try await log.entry(at: 3)
        }
    }
}

/// A second implementation of RFC 6962, as its recursion, without the module under test.
enum Reference {
    static func bundle(_ entries: ArraySlice<[UInt8]>) -> [UInt8] {
        entries.flatMap { entry -> [UInt8] in [UInt8(entry.count >> 8), UInt8(entry.count & 255)] + entry }
    }

    static func leaf(_ entry: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: [0] + entry)) }

    static func root(_ leaves: [[UInt8]]) -> [UInt8] {
        guard leaves.count > 1 else { return leaves.first ?? Array(SHA256.hash(data: [])) }
        var split = 1
        while split * 2 < leaves.count { split *= 2 }
        return Array(SHA256.hash(data: [1] + root(Array(leaves[..<split])) + root(Array(leaves[split...]))))
    }
}
