// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import CSodium
    import CanonicalCoding
    import Crypto
    import KeyTransparency
    import ProtocolTesting
    import Testing
    import TransparencyLog

    /// Whoever has the ask key can endorse one request with many signatures: they are one request.
    @Suite struct SignedOnceMoreTests {
        let account: RecoverableAccount

        init() throws { account = try RecoverableAccount() }

        /// Another Ed25519 signature by the same key (RFC 8032, section 5.1.6, with a nonce that is drawn).
        private static func signature(of message: [UInt8], by key: Curve25519.Signing.PrivateKey) -> [UInt8] {
            var scalar = Array(SHA512.hash(data: key.rawRepresentation).prefix(32))
            scalar[0] &= 248
            scalar[31] = scalar[31] & 127 | 64
            var (nonce, point) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
            crypto_core_ed25519_scalar_random(&nonce)
            _ = crypto_scalarmult_ed25519_base_noclamp(&point, nonce)
            let digest = Array(SHA512.hash(data: point + key.publicBytes + message))
            var (challenge, product, sum) = (nonce, nonce, nonce)
            crypto_core_ed25519_scalar_reduce(&challenge, digest)
            crypto_core_ed25519_scalar_mul(&product, challenge, scalar)
            crypto_core_ed25519_scalar_add(&sum, nonce, product)
            return point + sum
        }

        private func start(signing sign: ([UInt8]) throws -> [UInt8]) throws -> RecoveryStart {
            let (request, started) = ([UInt8](repeating: 9, count: 32), RecoverableAccount.started)
            return try RecoveryStart(
                request: request, identityKey: account.newIdentity.publicBytes, commitment: account.commitment,
                started: started, expires: started + 6000,
                endorsement: RecoveryEndorsement(
                    of: request, identityKey: account.newIdentity.publicBytes, commitment: account.commitment,
                    expires: started + 6000, at: started, signing: sign))
        }

        /// The attack: a request waited, and the owner objected. It comes once more under another signature, and the takeover right
        /// behind it.
        @Test func aRequestThatIsSignedOnceMoreHasNotWaited() throws {
            let (ask, ended) = (account.askKey, RecoverableAccount.ended)
            let first = try start { Array(try ask.signature(for: $0)) }
            let again = try start { Self.signature(of: $0, by: ask) }
            #expect(first != again && first.hash == again.hash)
            let stopped = try account.stopped(after: account.asked)
            let asked = try AccountState(
                starting: again, superseding: nil, after: stopped, with: account.newIdentity.raw)
            let taken = try RecoverableAccount.recovered(
                after: asked, first, account.newIdentity, account.recoveryKey)
            let people = [account.first, account.committed, account.asked, stopped, asked, taken].map {
                account.person($0)
            }
            for (time, expected) in [
                (ended, IdentityChange.rushed), (ended - UInt64(RecoverableAccount.delay), .recovered(at: ended)),
            ] {
                #expect(try identity(of: people, secondRequestAt: time) == expected)
            }
        }

        /// What a contact makes of the last state who pinned the second one.
        private func identity(of people: [PaperPerson], secondRequestAt time: UInt64) throws -> IdentityChange? {
            let begun = PaperDirectory.now - 20_000
            var directory = try PaperDirectory(from: begun)
            let times = [
                begun, begun, RecoverableAccount.started, RecoverableAccount.started, time, RecoverableAccount.ended,
            ]
            var pinned: PinnedPeer?
            for (person, time) in zip(people, times) {
                try directory.log(person)
                try directory.endEpoch(at: time * 1000)
                guard person.version == 2 else { continue }
                var early = directory
                try early.endEpoch()
                pinned = PinnedPeer(try PeerTrustTests.lookup(person, in: early), at: PaperDirectory.now)
            }
            try directory.endEpoch()
            let history = try HistoryVerifier(trust: directory.trust()).verify(
                directory.history(of: people), for: account.alice.handle, knowing: nil, since: MerkleFrontier(),
                at: PaperDirectory.now)
            let lookup = try PeerTrustTests.lookup(people[people.count - 1], in: directory)
            guard case .mismatch(let change) = PeerTrustDecision(lookup, comparedWith: pinned, by: history) else {
                return nil
            }
            return change.identity
        }
    }
#endif
