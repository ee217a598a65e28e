// SPDX-License-Identifier: Apache-2.0

import Crypto

#if canImport(CCryptoBoringSSL)
    import CCryptoBoringSSL
#endif

/// A node of an RFC 6962 Merkle tree: 32 bytes of SHA-256, held flat.
///
/// A leaf hashes as `SHA-256(0x00 || entry)` and an interior node as `SHA-256(0x01 || left || right)`,
/// so that neither can pass for the other.
///
/// Spec: RFC 6962, section 2.1.
public struct TreeHash: Hashable, Sendable {
    /// How many bytes a hash has.
    public static let byteCount = 32

    /// The hash of a tree without leaves: SHA-256 of nothing.
    public static let emptyTree: TreeHash = sha256(UnsafeRawBufferPointer(start: nil, count: 0))

    // The 32 bytes in memory order, regardless of the machine's byte order: they are never read as numbers.
    private var words: (UInt64, UInt64, UInt64, UInt64)

    /// The hash with these bytes; nil unless there are exactly 32.
    public init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self = bytes.withUnsafeBufferPointer { Self(copying: UnsafeRawBufferPointer($0)) }
    }

    /// The hash with these bytes; nil unless there are exactly 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        words = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
    }

    /// Takes at most 32 bytes; every caller in this file passes exactly 32.
    private init(copying source: UnsafeRawBufferPointer) {
        words = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: .init(rebasing: source.prefix(32))) }
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// Lends the 32 bytes without copying them.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Swift.withUnsafeBytes(of: words, body)
    }

    /// Whether both have the same 32 bytes.
    public static func == (left: TreeHash, right: TreeHash) -> Bool { left.words == right.words }

    /// Feeds the 32 bytes to a hasher.
    public func hash(into hasher: inout Hasher) { withUnsafeBytes { hasher.combine(bytes: $0) } }
}

extension TreeHash {
    /// The leaf hash of an entry: `SHA-256(0x00 || entry)`.
    public static func leaf(_ entry: [UInt8]) -> TreeHash { leaf(entry.span) }

    /// The leaf hash of an entry: `SHA-256(0x00 || entry)`.
    public static func leaf(_ entry: Span<UInt8>) -> TreeHash {
        guard entry.count < 1024 else { return leafInTwoParts(entry) }
        return withUnsafeTemporaryAllocation(byteCount: entry.count + 1, alignment: 8) { buffer in
            buffer[0] = 0x00
            entry.withUnsafeBufferPointer {
                UnsafeMutableRawBufferPointer(rebasing: buffer[1...]).copyMemory(from: .init($0))
            }
            return sha256(UnsafeRawBufferPointer(buffer))
        }
    }

    /// The hash of an interior node: `SHA-256(0x01 || left || right)`.
    public static func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
        withUnsafeTemporaryAllocation(byteCount: 65, alignment: 8) { buffer in
            buffer[0] = 0x01
            buffer.storeBytes(of: left.words, toByteOffset: 1, as: (UInt64, UInt64, UInt64, UInt64).self)
            buffer.storeBytes(of: right.words, toByteOffset: 33, as: (UInt64, UInt64, UInt64, UInt64).self)
            return sha256(UnsafeRawBufferPointer(buffer))
        }
    }

    /// The hash over consecutive nodes of one level, as for a tile: the RFC 6962 tree whose leaf
    /// hashes these are. Without nodes it is ``emptyTree``.
    public static func root(of nodes: [TreeHash]) -> TreeHash {
        var level = nodes
        while level.count > 1 {
            var above: [TreeHash] = []
            above.reserveCapacity((level.count + 1) / 2)
            for index in stride(from: 0, to: level.count - 1, by: 2) {
                above.append(node(level[index], level[index + 1]))
            }
            if !level.count.isMultiple(of: 2) { above.append(level[level.count - 1]) }
            level = above
        }
        return level.first ?? emptyTree
    }

    /// An entry too long to copy next to its prefix.
    private static func leafInTwoParts(_ entry: Span<UInt8>) -> TreeHash {
        var hasher = SHA256()
        Swift.withUnsafeBytes(of: UInt8(0x00)) { hasher.update(bufferPointer: $0) }
        entry.withUnsafeBufferPointer { hasher.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hasher.finalize().withUnsafeBytes { TreeHash(copying: $0) }
    }

    /// Where there is the BoringSSL inside swift-crypto, it is called directly, as `MLDSA44` says: swift-crypto's own interface
    /// allocates a context for each hash.
    private static func sha256(_ input: UnsafeRawBufferPointer) -> TreeHash {
        #if canImport(CCryptoBoringSSL)
            withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { digest in
                CCryptoBoringSSL_SHA256(
                    input.baseAddress?.assumingMemoryBound(to: UInt8.self), input.count,
                    digest.baseAddress?.assumingMemoryBound(to: UInt8.self))
                return TreeHash(copying: UnsafeRawBufferPointer(digest))
            }
        #else
            var hasher = SHA256()
            hasher.update(bufferPointer: input)
            return hasher.finalize().withUnsafeBytes { TreeHash(copying: $0) }
        #endif
    }
}
