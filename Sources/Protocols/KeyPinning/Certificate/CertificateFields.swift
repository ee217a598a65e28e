// SPDX-License-Identifier: Apache-2.0

/// What pinning needs from a certificate, cut out of its bytes unchanged.
///
/// Nothing is verified: the bytes may come from anyone.
///
/// Spec: RFC 5280 section 4.1.
public struct CertificateFields: Hashable, Sendable {
    /// The whole SubjectPublicKeyInfo, DER, with its tag and length: what a pin hashes.
    public let subjectPublicKeyInfo: ArraySlice<UInt8>
    /// The serial number: the bytes of its INTEGER, which is in two's complement.
    public let serialNumber: ArraySlice<UInt8>
    /// The issuer's name, DER.
    public let issuer: ArraySlice<UInt8>
    /// The subject's name, DER.
    public let subject: ArraySlice<UInt8>
    /// The first second of validity, since 1970.
    public let notBefore: Int64
    /// The last second of validity, since 1970.
    public let notAfter: Int64

    /// Reads a certificate.
    ///
    /// - Parameter der: one DER certificate and nothing behind it.
    /// - Throws: ``DERFault``: with the offset.
    public init(_ der: [UInt8]) throws(DERFault) {
        var outer = DERReader(der[...])
        var certificate = DERReader(try outer.contents(DERTag.sequence))
        try outer.end()
        try self.init(signed: try certificate.element(DERTag.sequence))
    }

    /// Reads the signed part of a certificate: its TBSCertificate, with tag and length.
    ///
    /// - Throws: ``DERFault``.
    package init(signed: ArraySlice<UInt8>) throws(DERFault) {
        var outer = DERReader(signed)
        var body = DERReader(try outer.contents(DERTag.sequence))
        if body.nextTag == DERTag.version { try body.skip() }
        serialNumber = try body.contents(DERTag.integer)
        _ = try body.contents(DERTag.sequence)
        issuer = try body.element(DERTag.sequence)
        var validity = DERReader(try body.contents(DERTag.sequence))
        notBefore = try CertificateTime.read(&validity)
        notAfter = try CertificateTime.read(&validity)
        try validity.end()
        subject = try body.element(DERTag.sequence)
        subjectPublicKeyInfo = try body.element(DERTag.sequence)
    }

    /// The pin of the certificate's key.
    public var pin: SPKIPin { SPKIPin(hashing: subjectPublicKeyInfo) }

    /// The bits of the key alone, without its algorithm: an X9.63 point, or PKCS#1 for RSA.
    ///
    /// - Throws: ``DERFault``.
    public var rawKey: ArraySlice<UInt8> {
        get throws(DERFault) {
            var outer = DERReader(subjectPublicKeyInfo)
            var fields = DERReader(try outer.contents(DERTag.sequence))
            _ = try fields.contents(DERTag.sequence)
            return try fields.contents(DERTag.bitString).dropFirst()
        }
    }
}

enum DERTag {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    static let sequence: UInt8 = 0x30
    static let version: UInt8 = 0xA0
}
