// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// What a witness says that it has cosigned, asked by a checkpoint of the log.
package enum WitnessWord: Hashable, Sendable {
    /// Nothing larger than this many entries, and no other tree of the size that it was asked by.
    case knows(size: UInt64)
    /// Another tree of the size that it was asked by.
    case otherTree
}

/// What the witnesses of a policy say who have answered.
struct WitnessWords: Sendable {
    let policy: Policy
    /// By their names in the policy. Who does not answer, or does not count, is not here.
    let words: [Policy.Name: WitnessWord]
    private let disregarded: Set<Policy.Name>

    /// - Parameter disregarded: those whose word does not count, as if they had not answered.
    init(policy: Policy, words: [Policy.Name: WitnessWord], disregarded: Set<Policy.Name> = []) {
        (self.policy, self.disregarded) = (policy, disregarded)
        self.words = words.filter { !disregarded.contains($0.key) }
    }

    /// Whether a checkpoint that clients believe can be no larger than what was named: a quorum has answered, and those who have not,
    /// together with the log's own cosigners, are none.
    ///
    /// - Parameter own: the keys with which the log's server cosigns. They remember nothing, and so confirm nothing.
    func areEnough(own: [VerifierKey]) -> Bool {
        let (answered, silent) = (Set(words.keys), Set(policy.witnesses.map(\.name)).subtracting(words.keys))
        let cosigners = policy.witnesses.filter { own.contains($0.key) }.map(\.name)
        return !policy.isQuorumMet(by: silent.union(cosigners))
            && policy.isQuorumMet(by: answered.union(cosigners))
    }

    /// The largest size that one names, and who; nil if none does.
    var largest: (size: UInt64, name: Policy.Name)? {
        let sizes = words.compactMap { name, word in
            if case .knows(let size) = word { (size: size, name: name) } else { nil }
        }
        return sizes.max { $0.size < $1.size }
    }

    /// One that has cosigned another tree.
    var knowsOtherTree: Policy.Name? { words.first { $0.value == .otherTree }?.key }

    /// Those who have an address and did not answer. Whether one did that does not count is not said.
    var silent: [Policy.Name] {
        policy.witnesses.filter { $0.url != nil && words[$0.name] == nil && !disregarded.contains($0.name) }
            .map(\.name)
    }
}
