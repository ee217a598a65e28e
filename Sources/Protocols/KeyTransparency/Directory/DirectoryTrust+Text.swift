// SPDX-License-Identifier: Apache-2.0

package import CanonicalCoding
package import TransparencyLog
import VRF

/// The part of a directory file that says what to trust, which every client reads, also one that cannot choose how it connects.
///
/// ```
/// vrf <base64 of 32 bytes>
/// maximum-age 86400
///
/// <C2SP tlog-policy>
/// ```
extension DirectoryTrust {
    /// The first line of a directory file, with its end.
    package static let fileFormat = Array("signet-directory/v1\n".utf8)

    /// Reads the lines from `vrf` on, to the end.
    ///
    /// - Throws: ``DirectoryTrustError``: says which line to correct.
    package init(from reader: inout ByteReader) throws(DirectoryTrustError) {
        guard let keyText = reader.line(named: "vrf"), let keyBytes = try? Base64.decode(keyText),
            let vrfKey = try? VRFPublicKey(keyBytes)
        else { throw .invalidLine("vrf") }
        guard let ageText = reader.line(named: "maximum-age"), let maximumAge = try? Decimal.decode(ageText) else {
            throw .invalidLine("maximum-age")
        }
        guard (try? reader.line(maximumLength: 0)) != nil else { throw .policyMissing }
        let policy: Policy
        do throws(PolicyError) { policy = try Policy(decoding: Array(reader.rest())) } catch { throw .policy(error) }
        self.init(policy: policy, vrfKey: vrfKey, freshness: FreshnessRule(maximumAge: maximumAge))
    }
}

/// Why the part of a directory file that says what to trust cannot be read.
package enum DirectoryTrustError: Error, Hashable, Sendable {
    /// The line of this name is missing, out of order or malformed.
    case invalidLine(String)
    /// No empty line and policy after the named lines.
    case policyMissing
    /// The policy is malformed.
    case policy(PolicyError)
}

extension ByteReader {
    /// The value of the next line if it has this name; nil, with the reader anywhere, for another line or none.
    package mutating func line(named name: String) -> ArraySlice<UInt8>? {
        let prefix = Array(name.utf8) + [UInt8(ascii: " ")]
        guard let line = try? line(maximumLength: 16_384), line.starts(with: prefix) else { return nil }
        return line.dropFirst(prefix.count)
    }

    /// Whether what follows begins so.
    package func hasLine(beginning text: String) -> Bool {
        var copy = self
        return copy.rest().starts(with: Array(text.utf8))
    }
}
