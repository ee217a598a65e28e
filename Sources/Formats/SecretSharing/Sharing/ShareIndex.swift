// SPDX-License-Identifier: Apache-2.0

/// At which place the secret polynomial was evaluated for a share: 1 to 65,535. Zero would be the secret itself.
public struct ShareIndex: Hashable, Comparable, Sendable {
    /// The place.
    public let value: UInt16

    /// A place; nil for zero.
    public init?(_ value: UInt16) {
        guard value > 0 else { return nil }
        self.value = value
    }

    /// Distinct places at random from `range`, so that a place tells nothing about how many there are.
    ///
    /// - Parameters:
    ///   - count: how many; no more than the range has.
    ///   - range: from where; zero is never taken.
    public static func random(
        count: Int, in range: ClosedRange<UInt16> = 1...UInt16.max, using generator: inout some RandomNumberGenerator
    ) -> [ShareIndex] {
        var found: [ShareIndex] = []
        let lowest = max(1, range.lowerBound)
        let possible = Int(range.upperBound) - Int(lowest) + 1
        while found.count < min(count, possible) {
            if let index = ShareIndex(.random(in: lowest...range.upperBound, using: &generator)),
                !found.contains(index)
            {
                found.append(index)
            }
        }
        return found
    }

    /// By place.
    public static func < (a: ShareIndex, b: ShareIndex) -> Bool { a.value < b.value }

    var residue: Residue<GroupOrder> { Residue(UInt64(value)) }
}
