// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import TransparencyLog
import VRF

/// A published case that a verifier of the directory can be put to, with the verdict that follows from how it was made.
package protocol DirectoryVector: Codable, Sendable {
    /// A short name, unlike every other.
    var name: String { get }
    /// What a good case covers, or the one fault of a bad one.
    var why: String { get }
    /// How our verifier disagrees; nil when it does not.
    ///
    /// - Throws: a field does not have its form.
    func disagreement() throws -> String?
}

/// What a client has pinned of a directory, as a case of milestones or of a recovery carries it.
package struct VectorTrust: Codable, Sendable {
    /// A C2SP tlog-policy.
    package let policy: String
    /// The directory's VRF public key, in hexadecimal.
    package let vrfKey: String
    /// How old a checkpoint may be, in seconds.
    package let maximumAge: UInt64
    /// How far clocks may be ahead, in seconds.
    package let clockSkew: UInt64

    init(_ directory: PaperDirectory) throws {
        policy = String(decoding: try directory.trust().policy.encoded, as: UTF8.self)
        vrfKey = LookupVector.hex(directory.vrf.publicKey.bytes)
        (maximumAge, clockSkew) = (FreshnessRule.standard.maximumAge, FreshnessRule.standard.clockSkew)
    }

    /// What a verifier is made with.
    func trust() throws -> DirectoryTrust {
        DirectoryTrust(
            policy: try Policy(decoding: Array(policy.utf8)), vrfKey: try VRFPublicKey(Hex.decode(Array(vrfKey.utf8))),
            freshness: FreshnessRule(maximumAge: maximumAge, warningAge: maximumAge, clockSkew: clockSkew))
    }
}

extension LookupVector: DirectoryVector {
    package func disagreement() throws -> String? {
        let found = try found()
        return found == verdict ? nil : "\(found) instead of \(verdict)"
    }
}
