// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import RecoveryClient
import RecoveryStore
package import SecretMemory
package import SignetClient
import SocialRecovery

/// Colluding guardians, as many as an identity needs, with modified programs, beside the server that stores what they open.
///
/// They combine their parts for a device of their own. No code is requested, and nothing waits.
package struct Conspiracy: Sendable {
    private let guardians: [(secrets: DeviceSecrets, duties: [GuardianDuty])]
    private let mailbox: MailboxStore

    /// Colluding guardians, from what they keep.
    ///
    /// - Parameters:
    ///   - homes: the guardians' home folders.
    ///   - passphrase: opens the keystores of all of them.
    ///   - mailbox: path of the server's store of recovery files.
    /// - Throws: any error that prevents reading one of them.
    package init(of homes: [HomeFolder], opening passphrase: SecretBytes, beside mailbox: String) throws {
        guardians = try homes.map { home in
            let keystore = try Keystore(decoding: home.keystore.read(maximumByteCount: Keystore.maximumByteCount))
            return (try keystore.open(with: passphrase), try RecoveryFiles(in: home).keptDuties())
        }
        self.mailbox = try MailboxStore(at: mailbox)
    }

    /// What they log: a request that claims to be older than the wait, directly followed by the takeover.
    struct Steps {
        let request: AccountState
        let takeover: AccountState
    }

    /// Takes an identity over.
    ///
    /// - Parameters:
    ///   - victim: the account's last state.
    ///   - now: in seconds since 1970.
    /// - Throws: any error that prevents the takeover, such as too few parts.
    func takeOver(_ victim: AccountState, at now: UInt64) async throws -> Steps {
        guard let hash = victim.recoveryCommitment,
            let file = try await mailbox.file(under: hash, of: victim.handle)
        else { throw ForgeryError.noTarget }
        let contents = try RecoveryContents(decoding: file)
        let packets = try guardians.map { secrets, duties in
            guard let duty = duties.first(where: { $0.owner == victim.handle }) else { throw ForgeryError.noTarget }
            let packet = try secrets.withSealingKey { key in
                try duty.packet(
                    epoch: contents.commitment.epoch, with: key, as: secrets.handle, identityKey: victim.identityKey)
            }
            return (secrets, packet)
        }
        let taker = try DeviceSecrets.generate(for: victim.handle, withIdentity: true)
        let started = now - UInt64(contents.commitment.delay) - 2
        guard let identityKey = taker.identityKey, let scope = packets.first?.1.scope else {
            throw ForgeryError.noTarget
        }
        let request = try RecoveryRequest(
            scope: scope, identityKey: identityKey, sealingKey: taker.keys.kem, signingKey: taker.keys.signing,
            revealRoot: SpokenNumbers(seed: [UInt8](repeating: 0, count: SpokenNumbers.seedByteCount)).root,
            created: started, expires: now + 3600, claimedName: [], signing: { try taker.signAsIdentity($0) ?? [] })
        let start = try RecoveryStart(
            request: request.hash, identityKey: identityKey, commitment: contents.commitment, started: started,
            expires: request.expires,
            endorsement: RecoveryEndorsement(
                of: request.hash, identityKey: identityKey, commitment: contents.commitment, expires: request.expires,
                at: started, signing: { packets.first?.1.askKey.signature(over: $0) ?? [] }))
        var attempt = try RecoveryAttempt(request, start: start, bundle: contents.bundle, state: victim)
        for (secrets, packet) in packets {
            let release = ShareRelease(packet, for: request) { try secrets.signAsIdentity($0) ?? [] }
            guard let release, let key = secrets.identityKey else { throw ForgeryError.noTarget }
            try attempt.take(
                release,
                from: GuardianKey(unchecked: secrets.handle, sealingKey: secrets.keys.kem, identityKey: key))
        }
        let asked = try AccountState(starting: start, superseding: nil, after: victim) {
            try taker.signAsIdentity($0) ?? []
        }
        let number = (victim.devices.map(\.number).max() ?? 0) + 1
        let takeover = try taker.withSealingKey { key in
            try attempt.succeed(
                with: key, after: asked, device: DeviceRecord(number: number, addedAt: now - 1, keys: taker.keys),
                at: now - 1
            ) { try taker.signAsIdentity($0) ?? [] }
        }
        return Steps(
            request: asked, takeover: takeover.completed { $0 == taker.keys.hash ? taker.keys.kem : nil })
    }
}
