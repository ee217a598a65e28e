// SPDX-License-Identifier: Apache-2.0

import Crypto
import NoteLog

/// A file in chunks of 64 KiB, each sealed by itself, so that it is read and written as a stream and from any place.
///
/// Chunk i: AES-256-GCM under the file's key; nonce: 11 bytes big-endian i, then 1 for the last chunk and 0 for others;
/// associated data: `signet-attachment/v1` LF, 16 blob. The last chunk is filled with zeros.
///
/// Spec: Hoang, Reyhanitabar, Rogaway and Vizár, "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance",
/// 2015 (STREAM), as in age.
extension AttachmentManifest {
    /// Seals chunk `index` of the file: 65,536 bytes, of the last chunk as many as are left.
    ///
    /// - Throws: ``SealedNoteError/tooLong``: not a chunk of this file, or not all of it. The caller's mistake.
    ///
    /// Security: never seal two different files with one manifest; the nonces would be the same.
    public func seal(_ content: [UInt8], chunk index: Int) throws(SealedNoteError) -> [UInt8] {
        guard (0..<chunkCount).contains(index), content.count == contentCount(index) else { throw .tooLong }
        let missing = Self.chunkByteCount - content.count
        let padded = missing == 0 ? content : content + [UInt8](repeating: 0, count: missing)
        do {
            let box = try AES.GCM.seal(padded, using: key, nonce: nonce(index), authenticating: associated)
            var sealed: [UInt8] = []
            sealed.reserveCapacity(Self.sealedChunkByteCount)
            sealed.append(contentsOf: box.ciphertext)
            sealed.append(contentsOf: box.tag)
            return sealed
        } catch { throw .unusableKey }
    }

    /// The content of chunk `index`.
    ///
    /// - Throws: ``SealedNoteError/notOpened``: altered, another chunk, another file's; ``SealedNoteError/tooLong``: the file has
    ///   no such chunk; ``SealedNoteError/malformedContent``: filled with other than zeros.
    ///
    /// Security: a chunk by itself says nothing of the others: a file is whole when all ``chunkCount`` chunks opened.
    public func open(_ sealed: [UInt8], chunk index: Int) throws(SealedNoteError) -> [UInt8] {
        guard (0..<chunkCount).contains(index) else { throw .tooLong }
        guard sealed.count == Self.sealedChunkByteCount else { throw .notOpened }
        var content: [UInt8]
        do {
            let box = try AES.GCM.SealedBox(
                nonce: nonce(index), ciphertext: sealed.prefix(Self.chunkByteCount),
                tag: sealed.suffix(16))
            content = Array(try AES.GCM.open(box, using: key, authenticating: associated))
        } catch { throw .notOpened }
        let count = contentCount(index)
        guard content[count...].allSatisfy({ $0 == 0 }) else { throw .malformedContent }
        content.removeSubrange(count...)
        return content
    }

    /// Which chunks hold the bytes of `range`, and where in them: for reading from the middle.
    ///
    /// - Returns: for each chunk its index and the range within its content.
    public func chunks(covering range: Range<UInt64>) -> [(index: Int, range: Range<Int>)] {
        let range = range.clamped(to: 0..<byteCount)
        guard !range.isEmpty else { return [] }
        let size = UInt64(Self.chunkByteCount)
        return (range.lowerBound / size...(range.upperBound - 1) / size).map { index in
            let start = index * size
            let inside = range.clamped(to: start..<start + size)
            return (Int(index), Int(inside.lowerBound - start)..<Int(inside.upperBound - start))
        }
    }

    private func contentCount(_ index: Int) -> Int {
        min(Self.chunkByteCount, Int(byteCount) - index * Self.chunkByteCount)
    }

    private func nonce(_ index: Int) throws -> AES.GCM.Nonce {
        var bytes = [UInt8](repeating: 0, count: 12)
        for place in 0..<8 { bytes[10 - place] = UInt8(truncatingIfNeeded: index >> (8 * place)) }
        bytes[11] = index == chunkCount - 1 ? 1 : 0
        return try AES.GCM.Nonce(data: bytes)
    }

    private var associated: [UInt8] { Array("signet-attachment/v1\n".utf8) + blob.bytes }
}
