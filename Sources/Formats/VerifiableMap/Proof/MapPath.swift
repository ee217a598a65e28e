// SPDX-License-Identifier: Apache-2.0

/// The way from a leaf up to the root: for every inner node its bit and the hash on its other side.
///
/// Encoded as steps of 33 bytes, from the leaf's parent up to the root. Going up, the bit strictly decreases, so no path
/// has more than 256 steps. A value of this type keeps that order.
///
/// Spec: rsc.io/tmp/mpt.
public struct MapPath: Hashable, Sendable {
    /// How many bytes a step takes: the bit (1), then the sibling's hash (32).
    public static let stepByteCount = 33
    /// The most steps that can be in order.
    public static let maximumStepCount = 256

    /// One inner node on the way.
    public struct Step: Hashable, Sendable, BitwiseCopyable {
        /// The first bit in which the keys below the node differ, from 0, the most significant bit of the first byte.
        public let bit: UInt8
        /// The hash on the side of the node on which the leaf is not.
        public let sibling: MapHash

        /// A step.
        public init(bit: UInt8, sibling: MapHash) {
            self.bit = bit
            self.sibling = sibling
        }
    }

    /// The steps, from the leaf's parent up to the root. Empty in a trie of one entry.
    public let steps: [Step]

    /// A claimed path of these steps.
    ///
    /// - Throws: ``MapProofError/bitNotDecreasing(step:)``.
    public init(_ steps: [Step]) throws(MapProofError) {
        for (step, pair) in zip(steps, steps.dropFirst()).enumerated() where pair.1.bit >= pair.0.bit {
            throw .bitNotDecreasing(step: step + 1)
        }
        self.steps = steps
    }

    /// Steps that were met one below the other in a trie.
    init(walked steps: [Step]) { self.steps = steps }

    /// Reads everything from `offset` on as a path; `offset` lies within `bytes`.
    init(decoding bytes: Span<UInt8>, from offset: Int) throws(MapProofError) {
        let byteCount = bytes.count - offset
        guard byteCount <= Self.maximumStepCount * Self.stepByteCount else {
            throw .pathTooLong(byteCount: byteCount)
        }
        let (count, leftOver) = byteCount.quotientAndRemainder(dividingBy: Self.stepByteCount)
        guard leftOver == 0 else { throw .leftOverBytes(leftOver) }
        try self.init(bytes.withUnsafeBytes { Self.steps(count, in: $0, from: offset) })
    }

    /// The caller has checked that `count` steps are there.
    private static func steps(_ count: Int, in source: UnsafeRawBufferPointer, from start: Int) -> [Step] {
        var steps: [Step] = []
        steps.reserveCapacity(count)
        for step in 0..<count {
            let offset = start + step * stepByteCount
            let sibling = MapHash(words: Words32(loading: source, at: offset + 1))
            steps.append(Step(bit: source[offset], sibling: sibling))
        }
        return steps
    }

    /// The steps as they are sent: 33 bytes each.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(steps.count * Self.stepByteCount)
        append(to: &bytes)
        return bytes
    }

    func append(to bytes: inout [UInt8]) {
        for step in steps {
            bytes.append(step.bit)
            step.sibling.words.append(to: &bytes)
        }
    }
}

extension MapPath {
    /// The root that this path gives for a leaf.
    func root(of entry: MapEntry) -> MapHash {
        var hash = MapHash.leaf(entry)
        for step in steps {
            let isRight = entry.key.words.bit(step.bit)
            let (left, right) = isRight ? (step.sibling, hash) : (hash, step.sibling)
            hash = .node(left, right, bit: step.bit)
        }
        return hash
    }

    /// The lowest bit named on this path in which the two keys differ; nil when a search for one ends where a search
    /// for the other does.
    func parting(_ key: MapKey, _ other: MapKey) -> UInt8? {
        steps.last { key.words.bit($0.bit) != other.words.bit($0.bit) }?.bit
    }
}
