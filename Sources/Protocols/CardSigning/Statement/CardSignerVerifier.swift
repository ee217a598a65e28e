// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import CryptographicMessages
public import KeyTransparency
public import SignetAPI
import SwiftASN1
public import TransparencyLog
import X509

/// Decides what a client believes of a signer of wallet cards. This page is the whole decision.
public struct CardSignerVerifier: Sendable {
    /// How far the time of a signature may be from the client's, in seconds.
    public static let maximumClockDifference: UInt64 = 300

    /// The signer.
    public let statement: CardSignerStatement
    /// Verifies the signer's tokens.
    public let tokenKey: TokenKey
    /// Who issued the signer's certificate, as that says.
    public let certifiedBy: String
    private let certificate: Certificate.PublicKey

    /// Believes a statement.
    ///
    /// - Parameters:
    ///   - answer: as the directory shows it.
    ///   - logs: the keys of the directory's log.
    ///   - epoch: one that was shown to be recent, by a lookup.
    /// - Throws: ``CardSignerFault``, the first check that fails.
    ///
    /// Security: everybody who verifies this epoch or a newer one is shown the same token key, or sees a fork.
    public init(
        _ answer: LoggedStatement, of logs: [VerifierKey], in epoch: VerifiedEpoch
    ) throws(CardSignerFault) {
        let statement = try CardSignerStatement(decoding: answer.text)
        guard logs.contains(where: { $0.name == statement.origin }) else { throw .otherOrigin }
        do { try answer.place.verify(answer.text, under: .cardSigner, in: epoch) } catch { throw .notLogged(error) }
        guard statement.version == answer.place.version else { throw .otherVersion }
        guard let tokenKey = TokenKey(statement.tokenKey) else { throw .tokenKey }
        guard let first = statement.certificates.first, let certificate = try? Certificate(derEncoded: first),
            CardSignatureKind(certificate.publicKey) != nil
        else { throw .certificate }
        self.statement = statement
        self.tokenKey = tokenKey
        certifiedBy = "\(certificate.issuer)"
        self.certificate = certificate.publicKey
    }

    /// Believes a signature.
    ///
    /// - Parameters:
    ///   - digest: of what was to be signed, 32 bytes.
    ///   - now: seconds since 1970.
    /// - Throws: ``CardSignerFault``, the first check that fails.
    ///
    /// Security: it is not checked who issued the signer's certificate. The wallet that gets the card does that.
    public func verify(
        _ answer: SignedCardDigest, of digest: [UInt8], at now: UInt64
    ) throws(CardSignerFault) -> DetachedSignature {
        let difference = now > answer.time ? now - answer.time : answer.time - now
        guard difference <= Self.maximumClockDifference else { throw .time }
        // The seconds could be a mark by which the signer finds the card again.
        guard answer.time.isMultiple(of: 60) else { throw .time }
        guard let kind = CardSignatureKind(certificate),
            let attributes = try? SignedAttributes(digest: digest, time: answer.time)
        else { throw .certificate }
        let isValid = certificate.isValidSignature(
            answer.signature, for: attributes.encoded, signatureAlgorithm: kind.certificateAlgorithm)
        guard isValid else { throw .signature }
        do {
            return try DetachedSignature(
                of: attributes, kind.messageAlgorithm, signature: answer.signature, certificates: statement.certificates
            )
        } catch { throw .certificate }
    }
}

/// Why a signer, or what it signed, is not believed: one case a check.
public enum CardSignerFault: Error, Hashable, Sendable {
    /// The statement has another form.
    case statement
    /// It is another log's.
    case otherOrigin
    /// It is not the newest that the log has.
    case notLogged(NewestRecordError)
    /// Its version is not the number of its record in the log.
    case otherVersion
    /// The key of tokens is not an RSA key of 2048 to 4096 bits.
    case tokenKey
    /// The certificate cannot be read, or its key signs no cards.
    case certificate
    /// A token is not what the signer should have signed.
    case token
    /// The time of a signature is not the present minute.
    case time
    /// A signature is not of this digest by this certificate's key.
    case signature
}
