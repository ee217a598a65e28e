// SPDX-License-Identifier: Apache-2.0

/// SHA-256 with the spelling of swift-crypto, for public bytes.
///
/// Spec: FIPS 180-4, section 6.2.
public struct SHA256: Sendable {
    /// The hash's digest.
    public typealias Digest = SHA256Digest

    private var state: State = (
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19
    )
    private var pending: [UInt8] = []
    private var byteCount: UInt64 = 0

    private typealias State = (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)
    private static let blockByteCount = 64

    /// A hash of nothing yet.
    public init() {}

    /// The digest of these bytes.
    public static func hash(data: [UInt8]) -> SHA256Digest {
        var hash = SHA256()
        hash.update(data: data)
        return hash.finalize()
    }

    /// Adds bytes.
    public mutating func update(data: [UInt8]) { data.withUnsafeBytes { update(bufferPointer: $0) } }

    /// Adds bytes.
    public mutating func update(data: ArraySlice<UInt8>) { data.withUnsafeBytes { update(bufferPointer: $0) } }

    /// Adds bytes.
    public mutating func update(bufferPointer input: UnsafeRawBufferPointer) {
        byteCount &+= UInt64(input.count)
        var rest = input[...]
        if !pending.isEmpty {
            let taken = rest.prefix(Self.blockByteCount - pending.count)
            pending.append(contentsOf: taken)
            rest = rest.dropFirst(taken.count)
            guard pending.count == Self.blockByteCount else { return }
            pending.withUnsafeBytes { Self.add($0, to: &state) }
            pending = []
        }
        while rest.count >= Self.blockByteCount {
            Self.add(UnsafeRawBufferPointer(rebasing: rest.prefix(Self.blockByteCount)), to: &state)
            rest = rest.dropFirst(Self.blockByteCount)
        }
        pending.append(contentsOf: rest)
    }

    /// The digest of everything that was added.
    public mutating func finalize() -> SHA256Digest {
        let bitCount = byteCount &* 8
        let zeros = (119 - pending.count) % Self.blockByteCount
        update(data: [0x80] + [UInt8](repeating: 0, count: zeros))
        withUnsafeBytes(of: bitCount.bigEndian) { update(bufferPointer: $0) }
        let words = [state.0, state.1, state.2, state.3, state.4, state.5, state.6, state.7]
        return SHA256Digest(
            bytes: words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } })
    }

    private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word &>> count | word &<< (32 &- count) }

    /// Adds a block of 64 bytes.
    private static func add(_ block: UnsafeRawBufferPointer, to state: inout State) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
            for place in 0..<16 {
                schedule[place] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: 4 &* place, as: UInt32.self))
            }
            for place in 16..<64 {
                let (early, late) = (schedule[place &- 15], schedule[place &- 2])
                let first = turned(early, 7) ^ turned(early, 18) ^ early &>> 3
                let second = turned(late, 17) ^ turned(late, 19) ^ late &>> 10
                schedule[place] = schedule[place &- 16] &+ first &+ schedule[place &- 7] &+ second
            }
            var (a, b, c, d, e, f, g, h) = state
            for place in 0..<64 {
                let choice = e & f ^ ~e & g
                let mixed = h &+ (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) &+ choice
                let one = mixed &+ roundConstants256[place] &+ schedule[place]
                let two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ (a & b ^ a & c ^ b & c)
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ one, c, b, a, one &+ two)
            }
            state = (
                state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e, state.5 &+ f, state.6 &+ g,
                state.7 &+ h
            )
        }
    }
}

/// 32 bytes.
public struct SHA256Digest: Sequence, Hashable, Sendable {
    /// Its length.
    public static let byteCount = 32
    let bytes: [UInt8]

    /// Its bytes, from the first.
    public func makeIterator() -> [UInt8].Iterator { bytes.makeIterator() }

    /// Lends its bytes.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes(body)
    }

    /// Whether the digest has these bytes. It is public: the comparison may stop at the first difference.
    public static func == (digest: SHA256Digest, bytes: [UInt8]) -> Bool { digest.bytes == bytes }
}

/// Spec: FIPS 180-4, section 4.2.2.
private let roundConstants256: [UInt32] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]
