// SPDX-License-Identifier: Apache-2.0

import Inflation

/// Where a secret turned up.
public struct CanaryFinding: Hashable, Sendable {
    /// The secret's name.
    public let canary: String
    /// How it is spelled there.
    public let encoding: CanaryEncoding
    /// Whether it came out of a deflated stream.
    public let isDeflated: Bool
    /// The file, the process or the stream.
    public let place: String
}

/// Looks for secrets in bytes, in every ``CanaryEncoding``, and in every deflated stream that begins in them.
///
/// Security: what a scan does not find may still be there: encrypted, in another encoding, or in two layers of these.
public struct CanaryScanner: Sendable {
    /// Bytes that a search is led by: no pattern is shorter.
    private static let keyByteCount = 8

    private struct Pattern {
        let canary: String
        let encoding: CanaryEncoding
        let bytes: [UInt8]
    }

    private var patterns: [Pattern] = []
    /// By their first eight bytes.
    private var byStart: [UInt64: [Int]] = [:]
    /// Bit by bit, whether a pattern begins with eight bytes that hash to this.
    private var filter = [UInt64](repeating: 0, count: 1 << 14)

    /// A scanner for these secrets.
    ///
    /// - Returns: nil if there is none, or one is shorter than ``Canary/minimumByteCount``: a scan would mean nothing.
    public init?(_ canaries: [Canary]) {
        guard !canaries.isEmpty, canaries.allSatisfy({ $0.bytes.count >= Canary.minimumByteCount }) else { return nil }
        for canary in canaries {
            for fragment in canary.fragments {
                for encoding in CanaryEncoding.allCases {
                    for spelling in Set(encoding.spellings(of: fragment)) where spelling.count >= Self.keyByteCount {
                        add(Pattern(canary: canary.name, encoding: encoding, bytes: spelling))
                    }
                }
            }
        }
    }

    private mutating func add(_ pattern: Pattern) {
        let start = pattern.bytes.prefix(Self.keyByteCount).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // `raw` stands first: a text that another encoding leaves as it is counts as that.
        let isKnown = byStart[start]?.contains {
            patterns[$0].bytes == pattern.bytes && patterns[$0].canary == pattern.canary
        }
        guard isKnown != true else { return }
        byStart[start, default: []].append(patterns.count)
        patterns.append(pattern)
        filter[Self.slot(start) >> 6] |= 1 << UInt64(Self.slot(start) & 63)
    }

    private static func slot(_ start: UInt64) -> Int { Int((start &* 0x9E37_79B9_7F4A_7C15) >> 44) }

    /// At most this much of one stream is inflated.
    private static let inflatedByteCount = 1 << 20

    /// What is found in some bytes.
    ///
    /// - Parameters:
    ///   - place: what the findings name.
    ///   - inflating: whether to try a deflated stream at every byte; zlib's and gzip's headers need not be known so.
    public func findings(in bytes: [UInt8], at place: String, inflating: Bool = true) -> Set<CanaryFinding> {
        var found = Set(matches(in: bytes.span).map { finding($0, place, isDeflated: false) })
        guard inflating else { return found }
        var inflater = Inflater(maximumByteCount: Self.inflatedByteCount)
        for offset in bytes.indices {
            inflater.inflate(bytes.span, from: offset)
            guard inflater.output.count >= Self.keyByteCount else { continue }
            for match in matches(in: inflater.output.span) { found.insert(finding(match, place, isDeflated: true)) }
        }
        return found
    }

    private func finding(_ pattern: Pattern, _ place: String, isDeflated: Bool) -> CanaryFinding {
        CanaryFinding(canary: pattern.canary, encoding: pattern.encoding, isDeflated: isDeflated, place: place)
    }

    private func matches(in bytes: Span<UInt8>) -> [Pattern] {
        var found: [Pattern] = []
        var window: UInt64 = 0
        for index in 0..<bytes.count {
            window = window << 8 | UInt64(bytes[index])
            let slot = Self.slot(window)
            guard index >= 7, filter[slot >> 6] & 1 << UInt64(slot & 63) != 0, let candidates = byStart[window] else {
                continue
            }
            found += candidates.map { patterns[$0] }.filter { isThere($0.bytes, bytes, at: index - 7) }
        }
        return found
    }

    private func isThere(_ pattern: [UInt8], _ bytes: Span<UInt8>, at start: Int) -> Bool {
        guard bytes.count - start >= pattern.count else { return false }
        return pattern.indices.allSatisfy { pattern[$0] == bytes[start + $0] }
    }
}
