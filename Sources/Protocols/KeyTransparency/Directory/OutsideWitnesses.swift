// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

extension VerifiedCheckpoint {
    /// The witnesses that cosigned it, count towards the policy's quorum, and are not the log's own by their keys' names.
    ///
    /// Security: a name is a claim. That a witness is operated by someone else is the claim of the policy's author.
    public func outsideWitnesses(by policy: Policy) -> [Policy.Name] {
        let counting = policy.quorumStrength.counting
        return cosignatures.filter { cosignature in
            counting.contains(cosignature.name)
                && !cosignature.verifierKey.name.bytes.starts(with: checkpoint.origin.bytes)
        }.map { $0.name }
    }
}
