// SPDX-License-Identifier: Apache-2.0

/// SHA-512 with the spelling of swift-crypto, for public bytes. It keeps the message until the end: only short ones are hashed.
///
/// Spec: FIPS 180-4, section 6.4.
public struct SHA512: Sendable {
    private typealias State = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
    private static let blockByteCount = 128
    private var message: [UInt8] = []

    /// A hash of nothing yet.
    public init() {}

    /// Adds bytes.
    public mutating func update(data: [UInt8]) { message.append(contentsOf: data) }

    /// Adds bytes.
    public mutating func update(data: ArraySlice<UInt8>) { message.append(contentsOf: data) }

    /// Adds bytes.
    public mutating func update(bufferPointer input: UnsafeRawBufferPointer) { message.append(contentsOf: input) }

    /// The digest of everything that was added.
    public func finalize() -> SHA512Digest {
        let bitCount = UInt64(message.count) &* 8
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (239 - message.count % Self.blockByteCount) % Self.blockByteCount)
        // 16 bytes of length, of which the first eight are zero.
        padded += [UInt8](repeating: 0, count: 8) + Self.bytes(bitCount)
        var state: State = (
            0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
            0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179
        )
        padded.withUnsafeBytes { blocks in
            for start in stride(from: 0, to: blocks.count, by: Self.blockByteCount) {
                Self.add(blocks, start, to: &state)
            }
        }
        let words = [state.0, state.1, state.2, state.3, state.4, state.5, state.6, state.7]
        return SHA512Digest(bytes: words.flatMap(Self.bytes))
    }

    private static func bytes(_ word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
    }

    private static func turned(_ word: UInt64, _ count: UInt64) -> UInt64 { word &>> count | word &<< (64 &- count) }

    /// Adds the block of 128 bytes that begins at `start`.
    private static func add(_ blocks: UnsafeRawBufferPointer, _ start: Int, to state: inout State) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 80) { schedule in
            for place in 0..<16 {
                schedule[place] = UInt64(
                    bigEndian: blocks.loadUnaligned(fromByteOffset: start &+ 8 &* place, as: UInt64.self))
            }
            for place in 16..<80 {
                let (early, late) = (schedule[place &- 15], schedule[place &- 2])
                let first = turned(early, 1) ^ turned(early, 8) ^ early &>> 7
                let second = turned(late, 19) ^ turned(late, 61) ^ late &>> 6
                schedule[place] = schedule[place &- 16] &+ first &+ schedule[place &- 7] &+ second
            }
            var (a, b, c, d, e, f, g, h) = state
            for place in 0..<80 {
                let choice = e & f ^ ~e & g
                let mixed = h &+ (turned(e, 14) ^ turned(e, 18) ^ turned(e, 41)) &+ choice
                let one = mixed &+ roundConstants512[place] &+ schedule[place]
                let two = (turned(a, 28) ^ turned(a, 34) ^ turned(a, 39)) &+ (a & b ^ a & c ^ b & c)
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ one, c, b, a, one &+ two)
            }
            state = (
                state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e, state.5 &+ f, state.6 &+ g,
                state.7 &+ h
            )
        }
    }
}

/// 64 bytes.
public struct SHA512Digest: Sequence, Sendable {
    let bytes: [UInt8]

    /// Its bytes, from the first.
    public func makeIterator() -> [UInt8].Iterator { bytes.makeIterator() }
}

/// Spec: FIPS 180-4, section 4.2.3.
private let roundConstants512: [UInt64] = [
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
]
