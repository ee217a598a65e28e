// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetClient

/// How the user's account is, as the directory proves it now.
public struct HomeExamination: Sendable {
    /// The account.
    public let account: OwnAccount
    /// How long ago, by this device's clock, the witnesses saw the log's newest epoch, in seconds.
    public let age: UInt64
    /// How many witnesses vouched that are not the directory's own by their names. If there are none, no one outside the directory has
    /// seen the log.
    public let outsideWitnessCount: Int
    /// Whether guardians can give the user the identity back after every device was lost.
    public let hasGuardians: Bool
    /// The home that is now in force.
    public let home: OpenHome
}

extension OpenHome {
    /// Looks the user's own account up, and says what a person who asks whether all is well has to know of it beside ``checkNow(isAccepting:)``.
    /// A change of the directory's keys is followed on the way.
    ///
    /// - Throws: ``SignetError``, as ``run(_:)`` does: the directory did not answer, or the answer failed a check.
    public func examine() async throws(SignetError) -> HomeExamination {
        guard let keystore else { throw .noAccount(folder: folder.path) }
        let policy = profile.trust.policy
        let (found, home) = try await run { client throws(ClientError) in
            let answer = try await client.lookup(keystore.handle)
            return (try answer.verdict, answer.outsideWitnesses(by: policy).count)
        }
        let verdict: LookupVerdict = found.0
        return HomeExamination(
            account: OwnAccount(verdict, on: keystore.keys.signing), age: verdict.age, outsideWitnessCount: found.1,
            hasGuardians: verdict.lookup.state.recoveryCommitment != nil, home: home)
    }
}
