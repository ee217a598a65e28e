// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import TransparencyLog
import VRF

/// A published case: an answer, everything that a client knows when it gets it, and what must become of it.
///
/// Byte strings are lower-case hexadecimal.
package struct LookupVector: Codable, Sendable {
    /// What the client has seen of the log.
    package struct View: Codable, Sendable {
        /// The log's name.
        package let origin: String
        /// The size of its largest checkpoint.
        package let size: UInt64
        /// The root of that.
        package let root: String
        /// The last epoch verified in it, if any.
        package let epoch: Epoch?
    }

    /// An epoch that the client has verified.
    package struct Epoch: Codable, Sendable {
        /// Its number.
        package let number: UInt64
        /// When it ended, in milliseconds since 1970.
        package let time: UInt64
    }

    /// What the client has seen of the label.
    package struct History: Codable, Sendable {
        /// How many entries.
        package let count: UInt64
        /// The root over their leaf hashes.
        package let root: String
    }

    /// What must become of the answer.
    package struct Verdict: Codable, Hashable, Sendable {
        /// `registered`, `closed`, `absent` or `refused`.
        package let outcome: String
        /// The check that must refuse it.
        package var check: String?
        /// The version of a registered or closed account.
        package var version: UInt64?
        /// How many entries its label has.
        package var count: UInt64?
        /// SHA-256 of a registered account's state.
        package var state: String?
        /// The size of the log afterwards.
        package var size: UInt64?
    }

    /// A short name, unlike every other.
    package let name: String
    /// What a good case covers, or the one fault of a bad one.
    package let why: String
    /// The handle that was typed.
    package let handle: String
    /// A C2SP tlog-policy.
    package let policy: String
    /// The directory's VRF public key.
    package let vrfKey: String
    /// How old a checkpoint may be, in seconds.
    package let maximumAge: UInt64
    /// How far clocks may be ahead, in seconds.
    package let clockSkew: UInt64
    /// The client's clock, in seconds since 1970.
    package let now: UInt64
    /// What it has seen of the log; nil on a first visit.
    package let knownLog: View?
    /// What it has seen of the label.
    package let knownLabel: History?
    /// The answer.
    package let answer: String
    /// What must become of it.
    package let verdict: Verdict
}

// MARK: Putting a case to our verifier

extension LookupVector {
    /// What our verifier makes of the case, from nothing but its fields.
    ///
    /// - Throws: a field does not have its form.
    package func found() throws -> Verdict {
        let verifier = LookupVerifier(
            trust: DirectoryTrust(
                policy: try Policy(decoding: Array(policy.utf8)), vrfKey: try VRFPublicKey(Self.bytes(vrfKey)),
                freshness: FreshnessRule(maximumAge: maximumAge, warningAge: maximumAge, clockSkew: clockSkew)))
        let handle = try Handle(canonical: Array(handle.utf8))
        let (view, history, answer) = (try view(), try history(), try Self.bytes(answer))
        do throws(LookupError) {
            return Verdict(
                try verifier.verify(answer, for: handle, knowing: view, history: history, at: now))
        } catch { return Verdict(outcome: "refused", check: "\(error.check)") }
    }

    private func view() throws -> LogView? {
        try knownLog.map {
            LogView(
                uncheckedOrigin: try KeyName(Array($0.origin.utf8)),
                head: TreeHead(size: $0.size, root: try Self.hash($0.root)), note: [],
                epoch: $0.epoch.map { EpochMark(number: $0.number, time: $0.time) })
        }
    }

    private func history() throws -> LabelHead? {
        try knownLabel.map { LabelHead(TreeHead(size: $0.count, root: try Self.hash($0.root))) }
    }

    private static func bytes(_ hex: String) throws -> [UInt8] { try Hex.decode(Array(hex.utf8)) }

    private static func hash(_ hex: String) throws -> TreeHash {
        guard let hash = TreeHash(try bytes(hex)) else { throw CanonicalCodingError.invalidLength(32) }
        return hash
    }

    /// Bytes as a case has them.
    package static func hex(_ bytes: [UInt8]) -> String { String(decoding: Hex.encode(bytes), as: UTF8.self) }
}

extension LookupVector.Verdict {
    /// The verdict that an accepted answer amounts to.
    init(_ answer: VerifiedAnswer) {
        let size = answer.epoch.view.head.size
        switch answer {
        case .registered(let lookup):
            self.init(
                outcome: "registered", version: lookup.state.version, count: lookup.history.count,
                state: LookupVector.hex(lookup.state.hash), size: size)
        case .closed(let closure):
            self.init(outcome: "closed", version: closure.version, count: closure.history.count, size: size)
        case .absent: self.init(outcome: "absent", size: size)
        }
    }
}
