// SPDX-License-Identifier: Apache-2.0

import Crypto
import DIDKey
import JOSE
import StrictJSON

/// A possible issuer of a credential, with the key that decides it.
struct IssuerCandidate {
    let issuer: CredentialIssuer
    let key: P256.Signing.PublicKey
    /// The types that a named issuer may issue; nil for all.
    let types: Set<JSONText>?
}

extension PresentationVerifier {
    static func issuerToken(_ parts: SeparatedText) throws(PresentationFault) -> SignedToken {
        do { return try SignedToken(decoding: parts.issuerToken) } catch { throw PresentationFault(reading: error) }
    }

    static func checkIssuerHeader(_ token: SignedToken) throws(PresentationFault) {
        guard token.isES256 else { throw .issuerAlgorithm }
        guard token.hasType("dc+sd-jwt") else { throw .issuerType }
        guard !token.hasCriticalParameters else { throw .issuerCritical }
    }

    static func payload(of token: SignedToken) throws(PresentationFault) -> JSONObject {
        do { return try JSONObject(decoding: token.unverifiedPayload) } catch { throw PresentationFault(error) }
    }

    /// Certificates decide if there are any; a did:key is its own key; every other issuer is known by name or not at
    /// all.
    static func issuer(
        of token: SignedToken, _ payload: JSONObject, _ trust: IssuerTrust, _ now: Int64
    ) throws(PresentationFault) -> IssuerCandidate {
        if let certified = try certifiedIssuer(of: token, trust, now) { return certified }
        guard let name = payload["iss"]?.string else { throw .issuerUntrusted }
        if trust.acceptsSelfIssued, name.utf8.starts(with: "did:".utf8) { return try selfIssuer(name) }
        guard let known = trust.issuers.first(where: { $0.identifier == name }) else { throw .issuerUntrusted }
        return IssuerCandidate(issuer: .named(name), key: known.key, types: known.types)
    }

    private static func certifiedIssuer(
        of token: SignedToken, _ trust: IssuerTrust, _ now: Int64
    ) throws(PresentationFault) -> IssuerCandidate? {
        do throws(CertificateTrustFault) {
            guard let chain = try token.certificates() else { return nil }
            guard let certifiedSigner = trust.certifiedSigner else { throw .chain }
            let signer = try certifiedSigner(chain, now)
            return IssuerCandidate(issuer: .certified(signer), key: signer.key, types: nil)
        } catch { throw error == .validity ? .issuerChainValidity : .issuerChain }
    }

    private static func selfIssuer(_ name: JSONText) throws(PresentationFault) -> IssuerCandidate {
        guard let did = try? KeyDID(decoding: name.utf8), did.algorithm == .p256,
            let key = try? P256.Signing.PublicKey(compressedRepresentation: did.publicKey)
        else { throw .issuerDID }
        return IssuerCandidate(issuer: .holder(name), key: key, types: nil)
    }

    static func checkIssuerSignature(
        _ token: SignedToken, _ candidate: IssuerCandidate
    ) throws(PresentationFault) {
        do { try token.verify(by: candidate.key) } catch { throw .issuerSignature }
    }

    /// A named issuer issues only its own types, a certified issuer has a name from its certificate, and no issuer
    /// makes statements about another person's key.
    static func checkIssuerMayIssue(
        _ candidate: IssuerCandidate, _ type: JSONText, _ claims: JSONObject, _ holder: WebKey?
    ) throws(PresentationFault) {
        switch candidate.issuer {
        case .named: guard candidate.types?.contains(type) ?? true else { throw .issuerUntrusted }
        case .certified(let signer):
            guard claims["iss"].map({ isName($0, of: signer) }) ?? true else { throw .issuerUntrusted }
        case .holder:
            guard holder.map({ $0 == WebKey(candidate.key) }) ?? true else { throw .issuerDID }
        }
    }

    private static func isName(_ value: JSONValue, of signer: CertifiedSigner) -> Bool {
        guard let name = value.string else { return false }
        return signer.identifiers.contains(name) || signer.hosts.contains { "https://".utf8 + $0.utf8 == name.utf8 }
    }
}
