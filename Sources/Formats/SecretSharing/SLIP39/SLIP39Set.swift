// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// A secret cut into groups of shares in words.
///
/// Spec: SLIP-0039, section "Creating the shares".
public struct SLIP39Set: Sendable {
    /// A group: how many of its shares are needed, and how many there are.
    public struct Group: Hashable, Sendable {
        /// 1 to `count`; 1 only when `count` is 1, since copies of one share are no sharing.
        public let threshold: Int
        /// 1 to 16.
        public let count: Int

        /// A group of shares.
        public init(threshold: Int, count: Int) {
            self.threshold = threshold
            self.count = count
        }
    }

    /// The shares of each group, in order.
    public let groups: [[SLIP39Share]]

    /// Cuts a secret.
    ///
    /// - Parameters:
    ///   - secret: 16 to 64 bytes, an even number.
    ///   - groups: 1 to 16.
    ///   - groupThreshold: how many groups recover it.
    ///   - identifier: random, 15 bits.
    ///   - iterationExponent: 0 to 15, for a passphrase.
    ///   - passphrase: printable ASCII.
    /// - Throws: ``SLIP39SetError``: the caller's numbers are out of range.
    public init(
        of secret: SecretBytes, groups: [Group], groupThreshold: Int, identifier: UInt16, isExtendable: Bool = true,
        iterationExponent: UInt8 = 1, passphrase: [UInt8] = [], using generator: inout some RandomNumberGenerator
    ) throws(SLIP39SetError) {
        guard SLIP39Share.valueByteCounts.contains(secret.count), secret.count.isMultiple(of: 2) else {
            throw .invalidSecretLength(secret.count)
        }
        guard passphrase.allSatisfy({ (32...126).contains($0) }) else { throw .invalidPassphrase }
        guard iterationExponent < 16, identifier < 0x8000 else { throw .invalidHeader }
        guard (1...16).contains(groups.count), (1...groups.count).contains(groupThreshold) else {
            throw .invalidGroups
        }
        guard groups.allSatisfy(\.isSound) else { throw .invalidGroups }
        let set = SLIP39SetHeader(
            identifier: identifier, isExtendable: isExtendable, iterationExponent: iterationExponent,
            groupThreshold: UInt8(groupThreshold), groupCount: UInt8(groups.count))
        let encrypted = PassphraseCipher(
            identifier: identifier, isExtendable: isExtendable, iterationExponent: iterationExponent,
            passphrase: passphrase
        ).encrypt(secret)
        let groupShares = ThresholdBytes.split(
            encrypted, threshold: groupThreshold, count: groups.count, using: &generator)
        var cut: [[SLIP39Share]] = []
        for (group, value) in zip(groups, groupShares) {
            cut.append(Self.members(of: group, at: UInt8(cut.count), value, set, using: &generator))
        }
        self.groups = cut
    }

    private static func members(
        of group: Group, at index: UInt8, _ value: SecretBytes, _ set: SLIP39SetHeader,
        using generator: inout some RandomNumberGenerator
    ) -> [SLIP39Share] {
        let values = ThresholdBytes.split(value, threshold: group.threshold, count: group.count, using: &generator)
        return values.enumerated().map { place, value in
            SLIP39Share(
                set: set, groupIndex: index, memberIndex: UInt8(place), memberThreshold: UInt8(group.threshold),
                value: value)
        }
    }
}

extension SLIP39Set.Group {
    fileprivate var isSound: Bool {
        (1...16).contains(count) && (1...count).contains(threshold) && (threshold > 1 || count == 1)
    }
}

/// Why a secret was not cut. The caller has to correct it.
public enum SLIP39SetError: Error, Hashable, Sendable {
    /// Not 16 to 64 bytes, or an odd number.
    case invalidSecretLength(Int)
    /// A character outside printable ASCII.
    case invalidPassphrase
    /// Identifier beyond 15 bits, or exponent beyond 15.
    case invalidHeader
    /// No group, too many, or thresholds that cannot be met or share nothing.
    case invalidGroups
}
