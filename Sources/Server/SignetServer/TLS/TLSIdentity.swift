// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
public import NIOSSL
import SwiftASN1
import X509

/// The server's private key and its certificates, PEM, the server's own certificate first.
public struct TLSIdentity: Hashable, Sendable {
    /// Certificates from the server's own to the one below the root, PEM.
    public let certificateChain: [UInt8]
    /// PKCS#8 or SEC 1, PEM.
    ///
    /// Security: secret.
    let privateKey: [UInt8]

    /// An identity; nothing is checked yet.
    public init(certificateChain: [UInt8], privateKey: [UInt8]) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }

    /// TLS 1.2 or 1.3, HTTP/2 or HTTP/1.1.
    ///
    /// - Throws: ``TLSIdentityError``.
    func context() throws(TLSIdentityError) -> NIOSSLContext {
        var configuration = try configuration()
        configuration.applicationProtocols = ["h2", "http/1.1"]
        do { return try NIOSSLContext(configuration: configuration) } catch { throw .keyDoesNotMatch }
    }

    /// TLS 1.2 or 1.3, HTTP/1.1, for an app's server that presents this identity.
    ///
    /// - Throws: ``TLSIdentityError``.
    public func configuration() throws(TLSIdentityError) -> TLSConfiguration {
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey
        do { chain = try NIOSSLCertificate.fromPEMBytes(certificateChain) } catch { throw .invalidCertificate }
        do { key = try NIOSSLPrivateKey(bytes: privateKey, format: .pem) } catch { throw .invalidKey }
        guard !chain.isEmpty else { throw .invalidCertificate }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return configuration
    }

    /// When the server's own certificate ends, in seconds since 1970; nil if it cannot be read.
    var end: UInt64? {
        guard let leaf = try? PEMBlock.certificates(in: certificateChain).first,
            let certificate = try? Certificate(derEncoded: leaf)
        else { return nil }
        return UInt64(max(0, certificate.notValidAfter.timeIntervalSince1970))
    }

    /// The pin of the server's own certificate.
    ///
    /// - Throws: ``TLSIdentityError/invalidCertificate``.
    var pin: SPKIPin {
        get throws(TLSIdentityError) {
            guard let leaf = try? PEMBlock.certificates(in: certificateChain).first,
                let fields = try? CertificateFields(leaf)
            else { throw .invalidCertificate }
            return fields.pin
        }
    }
}

/// Why a key and certificates do not make a TLS server. The operator has to correct the files.
public enum TLSIdentityError: Error, Hashable, Sendable {
    /// Not PEM certificates, or none.
    case invalidCertificate
    /// Not a PEM private key.
    case invalidKey
    /// The key is not the certificate's.
    case keyDoesNotMatch
}
