// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import SignetAPI

/// A published case of pins that a client is to take in the place of those in use: the client's directory file, a lookup that shows a
/// recent epoch and is good in each case, the answer about the pins, and what must become of it.
///
/// Byte strings are lower-case hexadecimal.
package struct PinsVector: DirectoryVector {
    /// What must become of the pins.
    package struct Verdict: Codable, Hashable, Sendable {
        /// `taken`, `later` or `refused`.
        package let outcome: String
        /// The check that must refuse them.
        package var check: String?
        /// The version of those that are taken.
        package var version: UInt64?
    }

    /// A short name, unlike every other.
    package let name: String
    /// What a good case covers, or the one fault of a bad one.
    package let why: String
    /// The client's directory file.
    package let profile: String
    /// The client's clock, in seconds since 1970.
    package let now: UInt64
    /// The person who was looked up.
    package let handle: String
    /// The answer to that; nil for pins that came as a file.
    package let lookup: String?
    /// A `PinsAnswer`, or the signed note of a file.
    package let answer: String
    /// What must become of it.
    package let verdict: Verdict
}

extension PinsVector {
    package func disagreement() throws -> String? {
        let found = try found()
        return found == verdict ? nil : "\(found) instead of \(verdict)"
    }

    /// What our verifier makes of the case, from nothing but its fields.
    package func found() throws -> Verdict {
        let profile = try DirectoryProfile(decoding: Array(profile.utf8))
        let (verifier, bytes) = (PinsVerifier(profile), try Hex.decode(Array(answer.utf8)))
        let epoch = try lookup.map { try self.epoch($0, profile.trust) }
        do throws(DirectoryPinsError) {
            guard let epoch else {
                return Verdict(outcome: "taken", version: try verifier.verify(file: bytes).version)
            }
            switch try? PinsAnswer(decoding: bytes) {
            case nil: return Verdict(outcome: "refused", check: "form")
            case .anotherEpoch?: return Verdict(outcome: "later")
            case .pins(let pins)?:
                return Verdict(outcome: "taken", version: try verifier.verify(pins, in: epoch).version)
            }
        } catch { return Verdict(outcome: "refused", check: error.name) }
    }

    private func epoch(_ lookup: String, _ trust: DirectoryTrust) throws -> VerifiedEpoch {
        let (bytes, handle) = (try Hex.decode(Array(lookup.utf8)), try Handle(canonical: Array(handle.utf8)))
        return try LookupVerifier(trust: trust).verify(bytes, for: handle, knowing: nil, at: now).epoch
    }
}

extension DirectoryPinsError {
    /// The word for the check in a published case.
    package var name: String {
        switch self {
        case .tooLong: "tooLong"
        case .malformedNote: "note"
        case .notSigned: "signature"
        case .malformed: "text"
        case .notLogged(.index): "index"
        case .notLogged(.history): "history"
        case .otherOrigin: "origin"
        case .otherVersion: "version"
        case .older: "older"
        case .replaced: "replaced"
        case .withheld: "withheld"
        case .unusable: "unusable"
        case .noRecoveryKey: "noRecoveryKey"
        case .known: "known"
        case .fileNotLogged: "fileNotLogged"
        }
    }
}
