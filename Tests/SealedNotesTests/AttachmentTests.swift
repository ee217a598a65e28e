// SPDX-License-Identifier: Apache-2.0

import NoteLog
import SeededRandomness
import Testing

@testable import SealedNotes

/// Files in chunks.
struct AttachmentTests {
    let blob: NoteID

    init() throws { blob = try #require(NoteID([UInt8](repeating: 3, count: 16))) }

    private func manifest(_ count: Int) throws -> AttachmentManifest {
        try AttachmentManifest(blob: blob, byteCount: UInt64(count), name: [1], mediaType: [2])
    }

    private func file(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(count))
        return generator.bytes(count)
    }

    private func chunks(_ file: [UInt8]) -> [[UInt8]] {
        file.isEmpty
            ? [[]] : stride(from: 0, to: file.count, by: 65_536).map { Array(file[$0..<min(file.count, $0 + 65_536)]) }
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]) func filesOpenAsTheyWereSealed(count: Int) throws
    {
        let (manifest, file) = (try manifest(count), file(count))
        #expect(manifest.chunkCount == chunks(file).count)
        var opened: [UInt8] = []
        for (index, chunk) in chunks(file).enumerated() {
            let sealed = try manifest.seal(chunk, chunk: index)
            #expect(sealed.count == AttachmentManifest.sealedChunkByteCount)
            opened += try manifest.open(sealed, chunk: index)
        }
        #expect(opened == file)
    }

    @Test func aChunkOpensOnlyInItsPlace() throws {
        let (manifest, file) = (try manifest(200_000), file(200_000))
        let sealed = try chunks(file).enumerated().map { try manifest.seal($1, chunk: $0) }
        for (index, chunk) in sealed.enumerated() {
            for other in sealed.indices where other != index {
                #expect(throws: SealedNoteError.notOpened) { try manifest.open(chunk, chunk: other) }
            }
        }
        // Cut after a chunk: what was in the middle is not the last.
        let cut = AttachmentManifest(manifest, byteCount: 131_072)
        #expect(throws: SealedNoteError.notOpened) { try cut.open(sealed[1], chunk: 1) }
        let longer = AttachmentManifest(manifest, byteCount: 300_000)
        #expect(throws: SealedNoteError.notOpened) { try longer.open(sealed[3], chunk: 3) }
        var altered = sealed[2]
        altered[5] ^= 1
        #expect(throws: SealedNoteError.notOpened) { try manifest.open(altered, chunk: 2) }
        #expect(throws: SealedNoteError.notOpened) { try manifest.open(altered.dropLast(), chunk: 2) }
        #expect(throws: SealedNoteError.tooLong) { try manifest.open(sealed[0], chunk: 4) }
        #expect(throws: SealedNoteError.tooLong) { try manifest.open(sealed[0], chunk: -1) }
    }

    @Test func anotherFilesChunkDoesNotOpen() throws {
        let (one, two) = (try manifest(10), try manifest(10))
        let sealed = try one.seal(file(10), chunk: 0)
        #expect(throws: SealedNoteError.notOpened) { try two.open(sealed, chunk: 0) }
        #expect(try one.seal(file(10), chunk: 0) == sealed)
    }

    @Test func open_refusesPaddingOtherThanZeros() throws {
        let manifest = try manifest(10)
        let sealed = try manifest.seal([UInt8](repeating: 1, count: 10), chunk: 0)
        let cut = AttachmentManifest(manifest, byteCount: 9)
        #expect(throws: SealedNoteError.malformedContent) { try cut.open(sealed, chunk: 0) }
    }

    @Test func chunksHaveTheLengthOfTheirPlace() throws {
        let manifest = try manifest(70_000)
        #expect(throws: SealedNoteError.tooLong) { try manifest.seal(file(70_000), chunk: 0) }
        #expect(throws: SealedNoteError.tooLong) { try manifest.seal(file(65_536), chunk: 1) }
        #expect(throws: SealedNoteError.tooLong) { try manifest.seal(file(4_464), chunk: 2) }
        #expect(throws: SealedNoteError.tooLong) {
            try AttachmentManifest(blob: blob, byteCount: 1 << 32 + 1, name: [1], mediaType: [])
        }
        #expect(throws: SealedNoteError.tooLong) {
            try AttachmentManifest(blob: blob, byteCount: 1, name: [], mediaType: [])
        }
        let longest = try AttachmentManifest(blob: blob, byteCount: 1 << 32, name: [1], mediaType: [])
        #expect(longest.chunkCount == 65_536)
    }

    @Test func anyRangeIsFoundInItsChunks() throws {
        let (manifest, file) = (try manifest(200_000), file(200_000))
        let parts = chunks(file)
        for range in [0..<1, 0..<200_000, 65_535..<65_537, 65_536..<131_072, 199_999..<300_000, 7..<7]
            as [Range<UInt64>]
        {
            let read = manifest.chunks(covering: range).flatMap { parts[$0.index][$0.range] }
            #expect(read == Array(file[min(200_000, Int(range.lowerBound))..<min(200_000, Int(range.upperBound))]))
        }
        #expect(manifest.chunks(covering: 300_000..<400_000).isEmpty)
    }
}
