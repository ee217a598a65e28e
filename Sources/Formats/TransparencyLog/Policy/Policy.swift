// SPDX-License-Identifier: Apache-2.0

/// Which logs to believe, which witnesses exist, and how many of them must have cosigned.
///
/// Spec: C2SP tlog-policy. Any one listed log suffices.
public struct Policy: Hashable, Sendable {
    /// The longest policy text we read, in bytes.
    public static let maximumByteCount = 1 << 20

    /// The name of a witness or group within the policy: bytes without space, tab or LF.
    ///
    /// Names are octets: no case, no Unicode normal form.
    public struct Name: Hashable, Sendable {
        /// At least one byte.
        public let bytes: [UInt8]

        /// The name with these bytes; nil when empty or when a line could not hold it.
        public init?(_ bytes: some Sequence<UInt8>) {
            let bytes = Array(bytes)
            guard !bytes.isEmpty && bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
            self.bytes = bytes
        }

        /// The word that stands for no quorum, which neither a witness nor a group may be called.
        static let none = Array("none".utf8)
    }

    /// A log that may sign.
    public struct Log: Hashable, Sendable {
        /// Its key, named after the log's origin: of algorithm ``VerifierKey/Algorithm/ed25519``,
        /// ``VerifierKey/Algorithm/mlDSA44``, or one that we do not verify, which never signs.
        public let key: VerifierKey
        /// Where to reach it; opaque bytes.
        public let url: [UInt8]?

        /// A log line.
        public init(key: VerifierKey, url: [UInt8]? = nil) {
            self.key = key
            self.url = url
        }
    }

    /// A witness that may cosign.
    public struct Witness: Hashable, Sendable {
        /// Its name within the policy.
        public let name: Name
        /// Its key, of algorithm ``VerifierKey/Algorithm/cosignatureV1``, ``VerifierKey/Algorithm/mlDSA44``, or one that
        /// we do not verify, which never cosigns.
        public let key: VerifierKey
        /// Where to reach it; opaque bytes.
        public let url: [UInt8]?

        /// A witness line.
        public init(name: Name, key: VerifierKey, url: [UInt8]? = nil) {
            self.name = name
            self.key = key
            self.url = url
        }
    }

    /// Witnesses and groups of which a number must have cosigned.
    public struct Group: Hashable, Sendable {
        /// Its name within the policy.
        public let name: Name
        /// How many members are needed, from 1 to all of them.
        public let threshold: Int
        /// Witnesses and earlier groups.
        public let members: [Name]

        /// A group line.
        public init(name: Name, threshold: Int, members: [Name]) {
            self.name = name
            self.threshold = threshold
            self.members = members
        }
    }

    /// What must have cosigned.
    public enum Quorum: Hashable, Sendable {
        /// No witness has to cosign.
        case none
        /// This witness or group.
        case member(Name)
    }

    /// The logs with their addresses, in order.
    public let listedLogs: [Log]
    /// The witnesses, in order.
    public let witnesses: [Witness]
    /// The groups; each only has members that stand before it.
    public let groups: [Group]
    /// What must have cosigned.
    public let quorum: Quorum

    /// The log keys, in order, of the types that we verify.
    public var logs: [VerifierKey] { listedLogs.map { $0.key }.filter { $0.algorithm.isVerified } }

    /// The witnesses, in order, whose cosignatures we can verify; the others never count, even if the note has their
    /// lines.
    public var verifiableWitnesses: [Witness] { witnesses.filter { $0.key.algorithm.isVerified } }

    /// A policy of these parts.
    ///
    /// - Throws: ``PolicyError``: as for the text in which the logs, witnesses, groups and the quorum stand in
    ///   this order; its line numbers count the parts from one.
    public init(
        logs: [Log], witnesses: [Witness] = [], groups: [Group] = [], quorum: Quorum
    ) throws(PolicyError) {
        var draft = PolicyDraft()
        for log in logs { try draft.add(log) }
        for witness in witnesses { try draft.add(witness) }
        for group in groups { try draft.add(group) }
        try draft.set(quorum)
        self = try draft.finish()
    }

    init(checked draft: PolicyDraft, quorum: Quorum) {
        listedLogs = draft.logs
        witnesses = draft.witnesses
        groups = draft.groups
        self.quorum = quorum
    }
}
