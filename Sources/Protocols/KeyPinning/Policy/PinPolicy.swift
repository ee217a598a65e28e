// SPDX-License-Identifier: Apache-2.0

/// Everything a client demands of the servers it speaks to. A host that no rule covers is not spoken to.
public struct PinPolicy: Hashable, Sendable {
    /// No policy has more rules.
    public static let maximumRuleCount = 256

    /// Where a policy is used. All run the same code: what differs is what their policies say.
    public enum Environment: Hashable, Sendable, CaseIterable {
        /// People depend on it: at least one rule enforces pins.
        case production
        /// A rehearsal.
        case staging
        /// A developer's machine.
        case development

        /// Its word in a policy file.
        public var word: [UInt8] {
            switch self {
            case .production: Array("production".utf8)
            case .staging: Array("staging".utf8)
            case .development: Array("development".utf8)
            }
        }
    }

    /// What a proxy in the device's settings changes.
    public enum ProxyRule: Hashable, Sendable, CaseIterable {
        /// Nothing but a remark in verdicts and reports: pinned TLS through a tunnel is safe.
        case record
        /// Nothing is sent while there is one.
        case refuse

        /// Its word in a policy file.
        public var word: [UInt8] {
            switch self {
            case .record: Array("record".utf8)
            case .refuse: Array("refuse".utf8)
            }
        }
    }

    /// Grows with every change of the policy; a decision made under another version is made again.
    public let version: UInt64
    /// Where it is used.
    public let environment: Environment
    /// What a proxy changes.
    public let proxies: ProxyRule
    /// The rules.
    public let rules: [PinRule]

    /// A policy, unless it cannot be right.
    ///
    /// - Throws: ``PinPolicyFault``.
    public init(
        version: UInt64, environment: Environment = .production, proxies: ProxyRule = .record, rules: [PinRule]
    ) throws(PinPolicyFault) {
        guard !rules.isEmpty else { throw .noRule }
        guard rules.count <= Self.maximumRuleCount else { throw .tooManyRules(rules.count) }
        guard Set(rules.map(\.pattern)).count == rules.count else { throw .duplicatePattern }
        guard environment != .production || rules.contains(where: { $0.mode == .enforce }) else {
            throw .nothingEnforced
        }
        self.version = version
        self.environment = environment
        self.proxies = proxies
        self.rules = rules
    }

    /// The narrowest rule that covers a host; nil when the host is unknown.
    public func rule(for host: ServerName) -> PinRule? {
        rules.filter { $0.covers(host) }.max { $0.pattern.narrowness < $1.pattern.narrowness }
    }
}

/// Why a policy cannot be right.
public enum PinPolicyFault: Error, Hashable, Sendable {
    /// A policy without rules allows no connection.
    case noRule
    /// More than ``PinPolicy/maximumRuleCount``.
    case tooManyRules(Int)
    /// Two rules for one pattern.
    case duplicatePattern
    /// A policy for production in which no rule enforces pins.
    case nothingEnforced
}
