// SPDX-License-Identifier: Apache-2.0

import CardSigning
import Crypto
import CryptoExtras
import Foundation
import KeyTransparency
import ProtocolTesting
import SignetAPI
import SwiftASN1
import TransparencyLog
import X509

/// A directory whose log has the statement of a signer.
final class SignerOnPaper {
    /// Made once: RSA keys take a while.
    static let tokens = Result { try TokenSigner() }
    static let now: UInt64 = 1_800_000_020
    static let minute: UInt64 = 1_800_000_000
    static let digest = [UInt8](repeating: 7, count: 32)

    let key: Certificate.PrivateKey
    let certificate: [UInt8]
    private(set) var directory: PaperDirectory
    private let nobody: Handle

    init(_ key: Certificate.PrivateKey = .init(P256.Signing.PrivateKey())) throws {
        self.key = key
        certificate = try Self.certificate(for: key)
        directory = try PaperDirectory(filler: 3)
        nobody = try Handle(canonical: Array("nobody@example.org".utf8))
    }

    static func certificate(for key: Certificate.PrivateKey) throws -> [UInt8] {
        let name = try DistinguishedName {
            CommonName("Pass NOT APPLE")
            OrganizationalUnitName("ABCDE12345")
        }
        let type = RelativeDistinguishedName(
            .init(type: [0, 9, 2342, 19_200_300, 100, 1, 1], utf8String: "pass.org.example.card"))
        let subject = DistinguishedName([type] + Array(name))
        let moment = Date(timeIntervalSince1970: TimeInterval(now))
        let made = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: key.publicKey, notValidBefore: moment - 86_400,
            notValidAfter: moment + 86_400, issuer: subject, subject: subject,
            extensions: try Certificate.Extensions { KeyUsage(digitalSignature: true) }, issuerPrivateKey: key)
        var serializer = DER.Serializer()
        try serializer.serialize(made)
        return serializer.serializedBytes
    }

    var subject: PassSubject {
        get throws { try Self.present(PassSubject(ofCertificate: certificate)) }
    }

    func statement(
        origin: KeyName? = nil, version: UInt64 = 1, tokenKey: [UInt8]? = nil, certificates: [[UInt8]]? = nil
    ) throws -> CardSignerStatement {
        CardSignerStatement(
            origin: origin ?? directory.log.verifierKey.name, version: version, limit: 20,
            tokenKey: try tokenKey ?? Self.tokens.get().publicKey, subject: try subject,
            certificates: certificates ?? [certificate])
    }

    /// Logs a text, and gives what an honest server answers then.
    func logged(_ text: [UInt8], version: UInt64 = 1) throws -> LoggedStatement {
        try directory.log(ReservedLabel.cardSigner.record(of: text, version: version).entry)
        try directory.endEpoch()
        return LoggedStatement(text: text, place: try directory.newestRecord(under: .cardSigner))
    }

    func verifier(_ answer: LoggedStatement) throws -> CardSignerVerifier {
        let answered = try directory.answer(aboutAbsent: nobody).response.encoded
        let epoch = try directory.verifier().verify(answered, for: nobody, knowing: nil, at: PaperDirectory.now).epoch
        return try CardSignerVerifier(answer, of: directory.trust().policy.logs, in: epoch)
    }

    /// The check that refuses an answer.
    func fault(_ answer: LoggedStatement) throws -> CardSignerFault? {
        do {
            _ = try verifier(answer)
            return nil
        } catch let fault as CardSignerFault { return fault }
    }

    static func present<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw PaperFault.notThere }
        return value
    }
}
