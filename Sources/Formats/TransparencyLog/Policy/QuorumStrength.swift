// SPDX-License-Identifier: Apache-2.0

/// What a policy's quorum takes, in numbers of witnesses.
///
/// Spec: C2SP tlog-policy, "Defining a witness group": a name is a member at most once, so groups form a tree and their
/// numbers add up.
public struct QuorumStrength: Hashable, Sendable {
    /// The witnesses whose cosignatures count, in the policy's order; one with a kind of key that we do not verify never does.
    public let counting: [Policy.Name]
    /// The fewest witnesses that together meet the quorum: so many must lie before clients can be shown two
    /// histories. Zero for a policy that asks for none.
    public let fewestToMeet: Int
    /// The fewest witnesses without which the quorum is not met: so many must be down before the log stops. Zero
    /// for a policy that asks for none: nothing stops it.
    public let fewestToStop: Int

    /// Numbers of one's own, for comparing.
    package init(counting: [Policy.Name], fewestToMeet: Int, fewestToStop: Int) {
        self.counting = counting
        self.fewestToMeet = fewestToMeet
        self.fewestToStop = fewestToStop
    }
}

extension Policy {
    /// How strong the quorum is.
    public var quorumStrength: QuorumStrength {
        guard case .member(let root) = quorum else {
            return QuorumStrength(counting: [], fewestToMeet: 0, fewestToStop: 0)
        }
        var meet: [Name: Int] = [:]
        var stop: [Name: Int] = [:]
        for witness in verifiableWitnesses { (meet[witness.name], stop[witness.name]) = (1, 1) }
        // Each group only has members that stand before it. A member that never cosigns has no price and counts as down
        // already.
        for group in groups {
            let members = group.members.filter { meet[$0] != nil }
            guard members.count >= group.threshold else { continue }
            meet[group.name] = Self.sum(members, meet, fewest: group.threshold)
            stop[group.name] = Self.sum(members, stop, fewest: members.count - group.threshold + 1)
        }
        let counting = names(below: root, having: meet)
        return QuorumStrength(
            counting: verifiableWitnesses.map { $0.name }.filter(counting.contains), fewestToMeet: meet[root] ?? 0,
            fewestToStop: stop[root] ?? 0)
    }

    /// The sum over the cheapest members.
    private static func sum(_ members: [Name], _ costs: [Name: Int], fewest count: Int) -> Int {
        members.compactMap { costs[$0] }.sorted().prefix(count).reduce(0, +)
    }

    /// A name, its members, their members and so on, but for those that nothing can bring to cosign.
    ///
    /// - Parameter costs: of the names that can be brought to cosign.
    private func names(below root: Name, having costs: [Name: Int]) -> Set<Name> {
        var names: Set<Name> = [root]
        for group in groups.reversed() where names.contains(group.name) {
            for member in group.members where costs[member] != nil { names.insert(member) }
        }
        return names
    }
}
