// SPDX-License-Identifier: Apache-2.0

import CardSigning
public import Credentials
import CryptographicMessages
import DeviceIdentity
import KeyTransparency
import PassBundle
public import SelectiveDisclosure
import SignetAPI
import SignetClient
import SitesClient
import TransparencyLog

/// Cards for the wallet of a telephone. The directory's server signs them without seeing them: it gets 32 bytes that say nothing about the card, and
/// a token that says nothing about the account.
extension Account {
    /// How many tokens are asked for when there are none.
    private static let tokensAtOnce = 5

    /// Makes a card for a wallet of some lines of a business card.
    ///
    /// - Parameters:
    ///   - card: of the user's own identity key.
    ///   - fields: the lines that it shows.
    ///   - pictures: PNG, by name, such as `icon.png`.
    ///   - approval: of `.carryCards`.
    /// - Throws: ``SignetError``, among others ``SignetError/walletCard(_:)``.
    ///
    /// Security: the server knows at which time, and from which address, tokens are given out and used. Whoever uses one as soon as it was given
    /// out can be guessed.
    public func walletCard(
        of card: HeldCredential, showing fields: Set<BusinessCard.Field>, pictures: [String: [UInt8]],
        _ approval: consuming Approval
    ) async throws(SignetError) -> WalletPass {
        try check(approval, is: .carryCards)
        let signer = try await cardSigner()
        let bundle: PassDraft
        do throws(PassDraftFault) {
            let pass = WalletCard(card, showing: fields).pass(
                type: signer.statement.passType, team: signer.statement.team, serial: surroundings.randomBytes(16))
            bundle = try PassDraft(pass: pass, pictures: pictures, salt: surroundings.randomBytes(32))
        } catch { throw .walletCard(.tooLong) }
        let signature = try await cardSignature(of: Array(bundle.digest), by: signer, approval)
        return WalletPass(archive: bundle.signed(with: signature.encoded), certifiedBy: signer.certifiedBy)
    }

    /// What the server says of its signer, as its log has it.
    private func cardSigner() async throws(SignetError) -> CardSignerVerifier {
        for delay in [0, 100, 400, 1600] {
            if delay > 0 { await surroundings.wait(.milliseconds(delay)) }
            let epoch: VerifiedEpoch
            do { epoch = try await home.client.verifiedAnswer(handle).answer.epoch } catch { throw .client(error) }
            let body = try await cardAnswer(.signer, StatementRequest(size: epoch.size).encoded)
            switch StatementAnswer(decoding: body) {
            case .statement(let answer):
                do { return try CardSignerVerifier(answer, of: home.profile.trust.policy.logs, in: epoch) } catch {
                    throw .walletCard(.signer(error))
                }
            case .anotherEpoch: continue
            case .some(.none): throw .walletCard(.noSigner)
            case nil: throw .walletCard(.signer(.statement))
            }
        }
        throw .walletCard(.noSigner)
    }

    /// A signature for one of the user's tokens. A token that was used in a call whose answer was lost is given up.
    private func cardSignature(
        of digest: [UInt8], by signer: CardSignerVerifier, _ approval: borrowing Approval
    ) async throws(SignetError) -> DetachedSignature {
        let book = TokenBook(keys: try await siteKeys(approval), list: home.folder.cardTokens)
        var tokens = try await keeping(approval) { grant throws(SitesError) in
            try await book.tokens(of: signer.tokenKey, grant)
        }
        if tokens.isEmpty {
            let fresh = try await moreTokens(of: signer, approval)
            try await keeping(approval) { grant throws(SitesError) in try await book.add(fresh, grant) }
            tokens = fresh
        }
        for token in tokens {
            guard let request = CardDigestRequest(token: token, digest: digest) else {
                throw .walletCard(.signer(.token))
            }
            let answer = CardDigestAnswer(decoding: try await cardAnswer(.sign, request.encoded))
            switch answer {
            case .signed(let signed):
                let signature: DetachedSignature
                do { signature = try signer.verify(signed, of: digest, at: surroundings.now()) } catch {
                    throw .walletCard(.signer(error))
                }
                try await keeping(approval) { grant throws(SitesError) in try await book.remove(token, grant) }
                return signature
            case .used: try await keeping(approval) { grant throws(SitesError) in try await book.remove(token, grant) }
            case .unknown, nil: throw .walletCard(.signer(.token))
            }
        }
        throw .walletCard(.noneLeft)
    }

    private func moreTokens(
        of signer: CardSignerVerifier, _ approval: borrowing Approval
    ) async throws(SignetError) -> [SigningToken] {
        var count = min(Self.tokensAtOnce, Int(clamping: signer.statement.limit))
        while count > 0 {
            let begun = (0..<count).compactMap { _ in signer.tokenKey.begin() }
            guard let request = TokensRequest(begun.map(\.request)) else { throw .walletCard(.signer(.token)) }
            switch TokensAnswer(decoding: try await cardAnswer(.tokens, request.encoded, signedBy: secrets)) {
            case .signed(let signatures):
                let tokens = zip(begun, signatures).compactMap { $0.token(signed: $1) }
                guard tokens.count == count else { throw .walletCard(.signer(.token)) }
                return tokens
            case .left(let left): count = min(count - 1, Int(left))
            case nil: throw .walletCard(.signer(.token))
            }
        }
        throw .walletCard(.noneLeft)
    }

    private func cardAnswer(
        _ route: CardSigningRoute, _ body: [UInt8], signedBy device: DeviceSecrets? = nil
    ) async throws(SignetError) -> [UInt8] {
        do {
            return try await home.client.call(route, body, signedBy: device, mayRepeat: device == nil)
        } catch {
            if case .refused(.notFound, _) = error { throw .walletCard(.noSigner) }
            throw .client(error)
        }
    }

    private func keeping<Value: Sendable>(
        _ approval: borrowing Approval, _ body: (consuming PresenceGrant) async throws(SitesError) -> Value
    ) async throws(SignetError) -> Value {
        do { return try await body(approval.grant.again()) } catch { throw .sites(error) }
    }
}
