// SPDX-License-Identifier: Apache-2.0

import Crypto
import TransparencyLog

/// RFC 6962 as it is written, without any storage: the slow tree that the fast one is compared with.
enum RecursiveTree {
    static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    static func leaf(_ entry: [UInt8]) -> [UInt8] { sha256([0x00] + entry) }

    /// MTH(D).
    static func root(_ leaves: ArraySlice<[UInt8]>) -> [UInt8] {
        guard let first = leaves.first else { return sha256([]) }
        guard leaves.count > 1 else { return first }
        let split = leaves.startIndex + split(leaves.count)
        return sha256([0x01] + root(leaves[..<split]) + root(leaves[split...]))
    }

    /// PATH(m, D).
    static func path(_ index: Int, _ leaves: ArraySlice<[UInt8]>) -> [[UInt8]] {
        guard leaves.count > 1 else { return [] }
        let count = split(leaves.count)
        let split = leaves.startIndex + count
        if index < count { return path(index, leaves[..<split]) + [root(leaves[split...])] }
        return path(index - count, leaves[split...]) + [root(leaves[..<split])]
    }

    /// SUBPROOF(m, D, b).
    static func consistency(_ size: Int, _ leaves: ArraySlice<[UInt8]>, whole: Bool = true) -> [[UInt8]] {
        if size == leaves.count { return whole ? [] : [root(leaves)] }
        let count = split(leaves.count)
        let split = leaves.startIndex + count
        if size <= count {
            return consistency(size, leaves[..<split], whole: whole) + [root(leaves[split...])]
        }
        return consistency(size - count, leaves[split...], whole: false) + [root(leaves[..<split])]
    }

    /// The largest power of two below `count`.
    private static func split(_ count: Int) -> Int {
        var split = 1
        while split * 2 < count { split *= 2 }
        return split
    }
}

/// `count` distinct leaf hashes.
func distinctLeaves(_ count: Int) -> [[UInt8]] {
    (0..<count).map { RecursiveTree.leaf(Array("entry \($0)".utf8)) }
}

extension TreeHash {
    /// For hashes that a test made itself and knows to have 32 bytes.
    init(tested bytes: [UInt8]) throws {
        guard let hash = TreeHash(bytes) else { throw WrongLength() }
        self = hash
    }

    struct WrongLength: Error {}
}
