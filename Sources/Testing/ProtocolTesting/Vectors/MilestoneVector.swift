// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import TransparencyLog

/// A published case of a walk over the milestones: the history and the answer that an owner gets, the epoch that was
/// checked last, and what must become of it.
///
/// Byte strings are lower-case hexadecimal.
package struct MilestoneVector: DirectoryVector {
    /// The word by which a file says that it holds such cases.
    package static let kind = "milestones"

    /// An epoch that the owner has checked.
    package struct Mark: Codable, Hashable, Sendable {
        /// The position of its record in the log.
        package let index: UInt64
        /// Its day since 1970.
        package let day: UInt64

        init(_ mark: MilestoneMark) { (index, day) = (mark.index, mark.day) }
    }

    /// What must become of the answer.
    package struct Verdict: Codable, Hashable, Sendable {
        /// `accepted` or `refused`.
        package let outcome: String
        /// The fault that must be found.
        package var check: String?
        /// How many milestones were looked at.
        package var count: Int?
        /// What to remember.
        package var mark: Mark?
    }

    /// ``kind``.
    package let kind: String
    /// A short name, unlike every other.
    package let name: String
    /// What a good case covers, or the one fault of a bad one.
    package let why: String
    /// Whose account.
    package let handle: String
    /// What is pinned of the directory.
    package let directory: VectorTrust
    /// The owner's clock, in seconds since 1970.
    package let now: UInt64
    /// The answer to the question for the whole history: good in each case.
    package let history: String
    /// The epoch that was checked last.
    package let last: Mark
    /// The answer about the milestones since.
    package let answer: String
    /// What must become of it.
    package let verdict: Verdict
}

extension MilestoneVector {
    package func disagreement() throws -> String? {
        let found = try found()
        return found == verdict ? nil : "\(found) instead of \(verdict)"
    }

    /// What our verifier makes of the case, from nothing but its fields.
    package func found() throws -> Verdict {
        let history = try HistoryVerifier(trust: directory.trust()).verify(
            Hex.decode(Array(history.utf8)), for: Handle(canonical: Array(handle.utf8)), knowing: nil,
            since: MerkleFrontier(), at: now)
        let (bytes, mark) = (try Hex.decode(Array(answer.utf8)), MilestoneMark(index: last.index, day: last.day))
        do throws(MilestoneFault) {
            let verified = try MilestoneVerifier(history).verify(bytes, since: mark)
            return Verdict(outcome: "accepted", count: verified.count, mark: Mark(verified.mark))
        } catch { return Verdict(outcome: "refused", check: error.name) }
    }
}

extension MilestoneFault {
    /// The word for the fault in a published case.
    package var name: String {
        switch self {
        case .envelope: "envelope"
        case .order: "order"
        case .notRightBefore: "notRightBefore"
        case .skipsDays: "skipsDays"
        case .notFirstOfDay: "notFirstOfDay"
        case .missesMark: "missesMark"
        case .surplus: "surplus"
        case .missing: "missing"
        case .inclusion: "inclusion"
        case .index: "index"
        case .anotherHistory: "anotherHistory"
        }
    }
}
