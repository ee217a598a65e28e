// SPDX-License-Identifier: Apache-2.0

/// What each use of SHA-512 hashes: suite string, one separating byte, then the parts.
///
/// Spec: c2sp.org/vrf-r255; RFC 9381, sections 5.2 and 5.4.
enum VRFTranscript {
    /// 0xFF and `c2sp.org/vrf-r255`: 18 bytes.
    private static let suite: StaticString = "c2sp.org/vrf-r255"

    /// For the map to an element. Spec: vrf-r255, "Encode to curve", step 2.
    static func map(publicKey: Bytes32, alpha: Span<UInt8>) -> [UInt8] {
        var input = start(separator: 0x82, capacity: 32 + alpha.count)
        publicKey.append(to: &input)
        for index in alpha.indices { input.append(alpha[index]) }
        return input
    }

    /// For the challenge. Spec: RFC 9381, section 5.4.3.
    static func challenge(
        publicKey: Bytes32, mapped: Bytes32, gamma: Bytes32, u: Bytes32, v: Bytes32
    ) -> [UInt8] {
        var input = start(separator: 0x02, capacity: 5 * 32 + 1)
        publicKey.append(to: &input)
        mapped.append(to: &input)
        gamma.append(to: &input)
        u.append(to: &input)
        v.append(to: &input)
        input.append(0x00)
        return input
    }

    /// For the output. Spec: RFC 9381, section 5.2, with cofactor 1.
    static func output(gamma: Bytes32) -> [UInt8] {
        var input = start(separator: 0x03, capacity: 32 + 1)
        gamma.append(to: &input)
        input.append(0x00)
        return input
    }

    /// The suite string and a separating byte, in an array with room for `capacity` more bytes.
    static func start(separator: UInt8, capacity: Int) -> [UInt8] {
        var input: [UInt8] = []
        input.reserveCapacity(2 + suite.utf8CodeUnitCount + capacity)
        input.append(0xFF)
        suite.withUTF8Buffer { input.append(contentsOf: $0) }
        input.append(separator)
        return input
    }
}
