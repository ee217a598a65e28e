// SPDX-License-Identifier: Apache-2.0

import SecretMemory

/// GF(2^8) with the polynomial x^8 + x^4 + x^3 + x + 1, as bytes.
///
/// Security: no table is looked up and no branch taken by value, so that secret bytes may be multiplied.
///
/// Spec: SLIP-0039, section "Shamir's secret sharing".
enum ByteField {
    /// a·b.
    @inline(__always)
    static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var (sum, shifted) = (UInt8(0), a)
        for bit in UInt8(0)..<8 {
            sum ^= shifted & (0 &- ((b &>> bit) & 1))
            shifted = (shifted &<< 1) ^ (0x1B & (0 &- (shifted &>> 7)))
        }
        return sum
    }

    /// 1/a for a public value; zero for zero.
    static func inverse(_ a: UInt8) -> UInt8 {
        var power = a
        for _ in 0..<6 { power = product(product(power, power), a) }  // a^127
        return product(power, power)
    }

    /// Lagrange's factor of each place for the value at `target`; places are public and distinct.
    static func factors(_ places: [UInt8], at target: UInt8) -> [UInt8] {
        places.map { place in
            places.filter { $0 != place }.reduce(1) { factor, other in
                product(factor, product(other ^ target, inverse(other ^ place)))
            }
        }
    }

    /// The secret value at `target` of the polynomial through `points`, byte by byte.
    static func interpolate(_ points: [(place: UInt8, value: SecretBytes)], at target: UInt8) -> SecretBytes {
        let factors = factors(points.map(\.place), at: target)
        return SecretBytes(count: points[0].value.count) { sum in
            for (point, factor) in zip(points, factors) {
                point.value.withBytes { value in
                    for index in value.indices { sum[index] ^= product(value[index], factor) }
                }
            }
        }
    }
}
