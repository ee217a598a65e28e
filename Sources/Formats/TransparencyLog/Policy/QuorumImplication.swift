// SPDX-License-Identifier: Apache-2.0

extension Policy {
    /// The most witnesses for which ``quorumImplies(_:)`` looks at every combination.
    public static let maximumComparedWitnesses = 16

    /// Whether every checkpoint that meets this quorum also meets that of `other`, so that no checkpoint that this
    /// policy accepts lacks cosignatures that `other` demands. Witnesses are the same when their keys are.
    ///
    /// False when more than ``maximumComparedWitnesses`` witnesses would have to be compared.
    public func quorumImplies(_ other: Policy) -> Bool {
        if other.quorum == .none { return true }
        let witnesses = verifiableWitnesses
        guard witnesses.count <= Self.maximumComparedWitnesses else { return false }
        var others: [VerifierKey: Name] = [:]
        for witness in other.verifiableWitnesses where others[witness.key] == nil { others[witness.key] = witness.name }
        return (0..<1 << witnesses.count).allSatisfy { combination in
            let chosen = witnesses.indices.filter { combination >> $0 & 1 == 1 }.map { witnesses[$0] }
            guard isQuorumMet(by: Set(chosen.map { $0.name })) else { return true }
            return other.isQuorumMet(by: Set(chosen.compactMap { others[$0.key] }))
        }
    }
}
