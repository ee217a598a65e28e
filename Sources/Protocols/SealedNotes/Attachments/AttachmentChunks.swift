// SPDX-License-Identifier: Apache-2.0

import Crypto
import NoteLog
import SecureCell

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
        var isSealed = false
        let sealed = [UInt8](unsafeUninitializedCapacity: Self.sealedChunkByteCount) { buffer, filled in
            let (body, tag) = UnsafeMutableRawBufferPointer(buffer).bodyAndTag
            isSealed = padded.withUnsafeBytes { padded in
                withCipherInput(index) { key, nonce, associated in
                    AESGCM.seal(padded, key: key, nonce: nonce, authenticating: associated, into: body, tag: tag)
                }
            }
            if isSealed { filled = Self.sealedChunkByteCount }
        }
        guard isSealed else { throw .unusableKey }
        return sealed
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
        var isAuthentic = false
        var content = [UInt8](unsafeUninitializedCapacity: Self.chunkByteCount) { buffer, filled in
            let output = UnsafeMutableRawBufferPointer(
                rebasing: UnsafeMutableRawBufferPointer(buffer).prefix(Self.chunkByteCount))
            isAuthentic = sealed.withUnsafeBytes { sealed in
                withCipherInput(index) { key, nonce, associated in
                    AESGCM.open(
                        UnsafeRawBufferPointer(rebasing: sealed.prefix(Self.chunkByteCount)),
                        tag: UnsafeRawBufferPointer(rebasing: sealed.suffix(AESGCM.tagByteCount)), key: key,
                        nonce: nonce,
                        authenticating: associated, into: output)
                }
            }
            if isAuthentic { filled = Self.chunkByteCount }
        }
        guard isAuthentic else { throw .notOpened }
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

    /// Lends key, nonce and associated data of chunk `index`.
    private func withCipherInput(
        _ index: Int, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        key.withUnsafeBytes { key in
            nonce(index).withUnsafeBytes { nonce in associated.withUnsafeBytes { body(key, nonce, $0) } }
        }
    }

    private func nonce(_ index: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: AESGCM.nonceByteCount)
        for place in 0..<8 { bytes[10 - place] = UInt8(truncatingIfNeeded: index >> (8 * place)) }
        bytes[11] = index == chunkCount - 1 ? 1 : 0
        return bytes
    }

    private var associated: [UInt8] { Array("signet-attachment/v1\n".utf8) + blob.bytes }
}

extension UnsafeMutableRawBufferPointer {
    /// The parts of a sealed chunk. The memory may be longer.
    fileprivate var bodyAndTag: (body: Self, tag: Self) {
        let (start, end) = (AttachmentManifest.chunkByteCount, AttachmentManifest.sealedChunkByteCount)
        return (Self(rebasing: self[..<start]), Self(rebasing: self[start..<end]))
    }
}
