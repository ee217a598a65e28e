// SPDX-License-Identifier: Apache-2.0

import Crypto
public import SecretMemory

extension SecretBytes {
    /// Recovers a secret from exactly as many shares as its set demands.
    ///
    /// - Parameters:
    ///   - passphrase: printable ASCII; a wrong one gives another secret.
    ///   - maximumExponent: a set that asks for more stretching is refused; 6 is about a second.
    /// - Throws: ``SLIP39RecoveryError``.
    ///
    /// Spec: SLIP-0039, section "Combining the shares".
    public static func recovered(
        from shares: [SLIP39Share], passphrase: [UInt8] = [], maximumExponent: UInt8 = 6
    ) throws(SLIP39RecoveryError) -> SecretBytes {
        guard let set = shares.first?.set, let byteCount = shares.first?.value.count else { throw .noShares }
        guard passphrase.allSatisfy({ (32...126).contains($0) }) else { throw .invalidPassphrase }
        guard shares.allSatisfy({ $0.set == set && $0.value.count == byteCount }) else { throw .severalSets }
        guard set.iterationExponent <= maximumExponent else {
            throw .tooManyIterations(exponent: set.iterationExponent)
        }
        let groups = Dictionary(grouping: shares, by: \.groupIndex)
        guard groups.count == Int(set.groupThreshold) else {
            throw .wrongGroupCount(needed: Int(set.groupThreshold), given: groups.count)
        }
        var points: [(place: UInt8, value: SecretBytes)] = []
        for (index, members) in groups.sorted(by: { $0.key < $1.key }) {
            points.append((index, try groupShare(members, group: index)))
        }
        let encrypted = try ThresholdBytes.recover(points, threshold: Int(set.groupThreshold))
        return PassphraseCipher(
            identifier: set.identifier, isExtendable: set.isExtendable, iterationExponent: set.iterationExponent,
            passphrase: passphrase
        ).decrypt(encrypted)
    }

    private static func groupShare(
        _ members: [SLIP39Share], group: UInt8
    ) throws(SLIP39RecoveryError) -> SecretBytes {
        let threshold = members[0].memberThreshold
        guard members.allSatisfy({ $0.memberThreshold == threshold }) else { throw .severalThresholds(group: group) }
        guard Set(members.map(\.memberIndex)).count == members.count else { throw .repeatedMember(group: group) }
        guard members.count == Int(threshold) else {
            throw .wrongMemberCount(group: group, needed: Int(threshold), given: members.count)
        }
        return try ThresholdBytes.recover(
            members.map { (place: $0.memberIndex, value: $0.value) }, threshold: Int(threshold))
    }
}

/// Shamir's scheme over bytes, with a digest that notices wrong shares without telling which.
///
/// Spec: SLIP-0039, section "Shamir's secret sharing" (SplitSecret, RecoverSecret).
enum ThresholdBytes {
    private static let digestPlace: UInt8 = 254
    private static let secretPlace: UInt8 = 255
    private static let digestByteCount = 4

    static func recover(
        _ points: [(place: UInt8, value: SecretBytes)], threshold: Int
    ) throws(SLIP39RecoveryError) -> SecretBytes {
        guard threshold > 1 else { return points[0].value }
        let secret = ByteField.interpolate(points, at: secretPlace)
        let digestShare = ByteField.interpolate(points, at: digestPlace)
        let isRight = digestShare.withBytes { share in
            digest(of: secret, random: Array(share.dropFirst(digestByteCount)))
                .elementsEqual(share.prefix(digestByteCount))
        }
        guard isRight else { throw .invalidDigest }
        return secret
    }

    /// `count` shares at the places 0, 1, 2, …
    static func split(
        _ secret: SecretBytes, threshold: Int, count: Int, using generator: inout some RandomNumberGenerator
    ) -> [SecretBytes] {
        guard threshold > 1 else { return Array(repeating: secret, count: count) }
        return split(secret, threshold: threshold, at: (0..<count).map { UInt8($0) }, using: &generator)
    }

    /// A share at each place; the first `threshold` - 2 are drawn, the others follow from them.
    ///
    /// - Parameter threshold: 2 to the number of places.
    static func split(
        _ secret: SecretBytes, threshold: Int, at places: [UInt8], using generator: inout some RandomNumberGenerator
    ) -> [SecretBytes] {
        var points: [(place: UInt8, value: SecretBytes)] = []
        for place in places.prefix(threshold - 2) { points.append((place, random(secret.count, using: &generator))) }
        let drawn = points.map(\.value)
        points.append((digestPlace, digestShare(of: secret, random(secret.count, using: &generator))))
        points.append((secretPlace, secret))
        return drawn + places.dropFirst(drawn.count).map { ByteField.interpolate(points, at: $0) }
    }

    /// Four bytes of digest, then the random bytes it is keyed with.
    private static func digestShare(of secret: SecretBytes, _ random: SecretBytes) -> SecretBytes {
        SecretBytes(count: secret.count) { memory in
            random.withBytes { memory.copyMemory(from: $0) }
            let digest = digest(of: secret, random: Array(memory.dropFirst(digestByteCount)))
            for (index, byte) in digest.enumerated() { memory[index] = byte }
        }
    }

    private static func digest(of secret: SecretBytes, random: [UInt8]) -> [UInt8] {
        secret.withBytes { bytes in
            var code = HMAC<SHA256>(key: SymmetricKey(data: random))
            code.update(data: bytes)
            return Array(Array(code.finalize()).prefix(digestByteCount))
        }
    }

    private static func random(_ count: Int, using generator: inout some RandomNumberGenerator) -> SecretBytes {
        SecretBytes(count: count) { memory in
            for index in memory.indices { memory[index] = generator.next() }
        }
    }
}

/// Why shares in words did not give a secret.
public enum SLIP39RecoveryError: Error, Hashable, Sendable {
    /// None were given.
    case noShares
    /// The passphrase has a character outside printable ASCII.
    case invalidPassphrase
    /// Shares of different sets.
    case severalSets
    /// The set asks for more stretching than the caller allows.
    case tooManyIterations(exponent: UInt8)
    /// Too few or too many groups.
    case wrongGroupCount(needed: Int, given: Int)
    /// Shares of one group that contradict each other.
    case severalThresholds(group: UInt8)
    /// One share twice.
    case repeatedMember(group: UInt8)
    /// Too few or too many shares of a group.
    case wrongMemberCount(group: UInt8, needed: Int, given: Int)
    /// A share is wrong; which one cannot be told.
    case invalidDigest
}
