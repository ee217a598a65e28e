// SPDX-License-Identifier: Apache-2.0

/// A policy line by line: checks each against those before it.
struct PolicyDraft {
    private(set) var logs: [Policy.Log] = []
    private(set) var witnesses: [Policy.Witness] = []
    private(set) var groups: [Policy.Group] = []
    private var quorum: Policy.Quorum?
    private var logKeys: Set<[UInt8]> = []
    private var witnessKeys: Set<[UInt8]> = []
    private var defined: Set<Policy.Name> = []
    private var grouped: Set<Policy.Name> = []
    /// The number of the line that comes next, from one.
    var line = 1

    mutating func add(_ log: Policy.Log) throws(PolicyError) {
        guard log.key.algorithm != .cosignatureV1 else { throw fault(.keyOfOtherRole) }
        try check(url: log.url)
        guard logKeys.insert(log.key.publicKey).inserted else { throw fault(.duplicateKey) }
        logs.append(log)
        line += 1
    }

    mutating func add(_ witness: Policy.Witness) throws(PolicyError) {
        guard witness.key.algorithm != .ed25519 else { throw fault(.keyOfOtherRole) }
        try check(url: witness.url)
        try define(witness.name)
        guard witnessKeys.insert(witness.key.publicKey).inserted else { throw fault(.duplicateKey) }
        witnesses.append(witness)
        line += 1
    }

    mutating func add(_ group: Policy.Group) throws(PolicyError) {
        guard group.threshold >= 1 && group.threshold <= group.members.count else {
            throw fault(.malformedThreshold)
        }
        for member in group.members {
            guard defined.contains(member) else { throw fault(.undefinedName) }
            guard grouped.insert(member).inserted else { throw fault(.memberTwice) }
        }
        try define(group.name)
        groups.append(group)
        line += 1
    }

    mutating func set(_ quorum: Policy.Quorum) throws(PolicyError) {
        guard self.quorum == nil else { throw fault(.secondQuorum) }
        if case .member(let name) = quorum, !defined.contains(name) { throw fault(.undefinedName) }
        self.quorum = quorum
        line += 1
    }

    func finish() throws(PolicyError) -> Policy {
        guard let quorum else { throw .quorumMissing }
        let policy = Policy(checked: self, quorum: quorum)
        guard policy.isQuorumMet(by: Set(witnesses.map { $0.name })) else { throw .quorumOutOfReach }
        return policy
    }

    func fault(_ fault: PolicyLineFault) -> PolicyError { .line(line, fault) }

    private mutating func define(_ name: Policy.Name) throws(PolicyError) {
        guard name.bytes != Policy.Name.none else { throw fault(.reservedName) }
        guard defined.insert(name).inserted else { throw fault(.duplicateName) }
    }

    private func check(url: [UInt8]?) throws(PolicyError) {
        guard let url else { return }
        guard Policy.Name(url) != nil else { throw fault(.malformedURL) }
    }
}
