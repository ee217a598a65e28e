// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// One part of a secret of bytes that was cut so that any `threshold` parts give it back.
///
/// Security: fewer parts than the threshold say nothing useful of the secret; a place says nothing of how many there are
/// when it was drawn at random.
///
/// Spec: SLIP-0039, section "Shamir's secret sharing", without the words.
public struct ByteShare: Sendable {
    /// How many places there are: 0 to 253. The two above hold the digest and the secret.
    public static let placeCount = 254

    /// Where the polynomial was evaluated, 0 to 253.
    public let place: UInt8
    /// The part, as long as the secret.
    public let value: SecretBytes

    /// A part that was stored or received; nil for a place that no part has. Nothing is verified.
    public init?(place: UInt8, value: SecretBytes) {
        guard Int(place) < Self.placeCount else { return nil }
        self.place = place
        self.value = value
    }

    /// Cuts a secret.
    ///
    /// - Parameters:
    ///   - secret: 16 to 64 bytes.
    ///   - threshold: how many parts give it back, 2 to the number of places.
    ///   - places: one for each part, all different, each below ``placeCount``.
    /// - Throws: ``ByteSharingError``: the caller's numbers are out of range.
    public static func cut(
        _ secret: SecretBytes, threshold: Int, at places: [UInt8], using generator: inout some RandomNumberGenerator
    ) throws(ByteSharingError) -> [ByteShare] {
        guard SLIP39Share.valueByteCounts.contains(secret.count) else { throw .invalidSecretLength(secret.count) }
        guard threshold >= 2, threshold <= places.count else { throw .thresholdOutOfRange(threshold) }
        guard Set(places).count == places.count, places.allSatisfy({ Int($0) < placeCount }) else {
            throw .invalidPlaces
        }
        let values = ThresholdBytes.split(secret, threshold: threshold, at: places, using: &generator)
        return zip(places, values).compactMap { ByteShare(place: $0, value: $1) }
    }

    /// Distinct places at random, so that a place tells nothing about how many there are.
    ///
    /// - Parameter count: at most ``placeCount``.
    public static func randomPlaces(
        _ count: Int, using generator: inout some RandomNumberGenerator
    ) -> [UInt8] {
        var places: [UInt8] = []
        while places.count < min(count, placeCount) {
            let place = UInt8.random(in: 0..<UInt8(placeCount), using: &generator)
            if !places.contains(place) { places.append(place) }
        }
        return places
    }
}

extension SecretBytes {
    /// Gives a secret back from at least as many parts as it was cut to need; nil when the parts do not belong together, or
    /// are too few.
    ///
    /// Security: a digest of four bytes notices parts that do not belong together; verify what the secret opens.
    public static func combined(from parts: [ByteShare]) -> SecretBytes? {
        guard parts.count >= 2, Set(parts.map(\.place)).count == parts.count,
            parts.allSatisfy({ $0.value.count == parts[0].value.count })
        else { return nil }
        return try? ThresholdBytes.recover(parts.map { ($0.place, $0.value) }, threshold: parts.count)
    }
}

/// Why a secret of bytes was not cut. The caller has to correct it.
public enum ByteSharingError: Error, Hashable, Sendable {
    /// Not 16 to 64 bytes.
    case invalidSecretLength(Int)
    /// Below 2, or above the number of places.
    case thresholdOutOfRange(Int)
    /// Two parts at one place, or a place that does not exist.
    case invalidPlaces
}
