// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// The hash of a key without its algorithm, as Apple's `SecKeyCopyExternalRepresentation` gives it: an import form only.
///
/// It says less than a pin, for the same bits are a key of more than one algorithm, and it cannot be turned into a pin
/// without the certificate.
public struct RawKeyHash: Hashable, Sendable {
    /// The digest, 32 bytes.
    public let digest: [UInt8]

    /// Reads 64 hexadecimal digits, lower-case.
    ///
    /// - Throws: ``PinTextFault``.
    public init(_ text: some Sequence<UInt8>) throws(PinTextFault) {
        do { digest = try Hex.decode(Array(text)) } catch { throw .malformed(error) }
        guard digest.count == SPKIPin.byteCount else { throw .invalidLength(digest.count) }
    }

    /// The hash of a certificate's key.
    ///
    /// - Throws: ``DERFault``.
    public init(of certificate: CertificateFields) throws(DERFault) {
        digest = Array(SHA256.hash(data: try certificate.rawKey))
    }

    /// The pin of the one certificate among these that has this key; nil if none has.
    public func pin(among certificates: [CertificateFields]) -> SPKIPin? {
        certificates.first { (try? RawKeyHash(of: $0)) == self }?.pin
    }
}
