// SPDX-License-Identifier: Apache-2.0

extension Policy {
    /// Whether cosignatures of these witnesses meet the quorum. Names that no witness has do not count, nor do witnesses
    /// with a kind of key that we do not verify.
    public func isQuorumMet(by names: Set<Name>) -> Bool {
        var times: [Name: UInt64] = [:]
        for witness in verifiableWitnesses where names.contains(witness.name) { times[witness.name] = 0 }
        do { _ = try quorumTime(of: times) } catch { return false }
        return true
    }

    /// The latest time such that the cosignatures made at it or later still meet the quorum.
    ///
    /// A group's time is the k-th latest among its members', since k of them must have cosigned. `times`
    /// holds the witnesses that cosigned. Nil when the policy asks for none.
    package func quorumTime(of times: [Name: UInt64]) throws(CheckpointVerificationError) -> UInt64? {
        guard case .member(let name) = quorum else { return nil }
        var times = times
        for group in groups {
            let latestFirst = group.members.compactMap { times[$0] }.sorted(by: >)
            if latestFirst.count >= group.threshold { times[group.name] = latestFirst[group.threshold - 1] }
        }
        guard let time = times[name] else { throw .quorumNotMet }
        return time
    }
}
