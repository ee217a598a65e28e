// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto
public import KeyTransparency
public import SignetAPI
public import TransparencyLog

/// What a directory's signer of wallet cards says of itself, to everybody the same: its hash is logged under
/// ``KeyTransparency/ReservedLabel/cardSigner``, where its version is the number of the record. With a token key for one person alone, the signer would know by
/// which token who has a card signed.
///
/// ```
/// signet-card-signer/v1
/// origin example.org/signet
/// version 1
/// limit 20
/// token-key <base64 of the DER of an RSA key>
/// pass-type pass.org.example.card
/// team ABCDE12345
/// certificate <base64 of the DER, the signer's own first>
/// ```
/// There are one to four lines `certificate`.
public struct CardSignerStatement: Hashable, Sendable {
    /// No statement is longer, in bytes.
    public static let maximumByteCount = LoggedStatement.maximumByteCount
    /// The most certificates.
    public static let maximumCertificateCount = 4
    /// The most tokens of an account and a month.
    public static let maximumLimit: UInt64 = 100

    /// The log's name.
    public let origin: KeyName
    /// From 1.
    public let version: UInt64
    /// So many tokens an account gets in a month.
    public let limit: UInt64
    /// SubjectPublicKeyInfo, DER.
    public let tokenKey: [UInt8]
    /// The `passTypeIdentifier` of cards: the certificate's user identifier.
    public let passType: [UInt8]
    /// The `teamIdentifier` of cards: the certificate's organizational unit.
    public let team: [UInt8]
    /// DER, the signer's own first.
    public let certificates: [[UInt8]]

    /// A statement.
    public init(
        origin: KeyName, version: UInt64, limit: UInt64, tokenKey: [UInt8], subject: PassSubject,
        certificates: [[UInt8]]
    ) {
        self.origin = origin
        self.version = version
        self.limit = limit
        self.tokenKey = tokenKey
        (passType, team) = (subject.passType, subject.team)
        self.certificates = certificates
    }

    /// What is logged.
    public var text: [UInt8] {
        var lines: [(StaticString, [UInt8])] = [
            ("origin", origin.bytes), ("version", Decimal.encode(version)), ("limit", Decimal.encode(limit)),
            ("token-key", Base64.encode(tokenKey)), ("pass-type", passType), ("team", team),
        ]
        lines += certificates.map { ("certificate", Base64.encode($0)) }
        var writer = ByteWriter()
        writer.write(Self.format)
        for (name, value) in lines {
            writer.write(name)
            writer.write(UInt8(ascii: " "))
            writer.write(value)
            writer.write(UInt8(ascii: "\n"))
        }
        return writer.bytes
    }

    /// Reads the text.
    ///
    /// - Throws: ``CardSignerFault/statement``.
    public init(decoding text: [UInt8]) throws(CardSignerFault) {
        guard text.count <= Self.maximumByteCount, text.starts(with: Self.format) else { throw .statement }
        var reader = ByteReader(text.dropFirst(Self.format.count))
        guard let origin = reader.line(named: "origin").flatMap({ try? KeyName(Array($0)) }),
            let version = reader.line(named: "version").flatMap({ try? Decimal.decode($0) }), version > 0,
            let limit = reader.line(named: "limit").flatMap({ try? Decimal.decode($0) }),
            (1...Self.maximumLimit).contains(limit),
            let tokenKey = reader.line(named: "token-key").flatMap({ try? Base64.decode($0) }),
            let passType = reader.line(named: "pass-type"), let team = reader.line(named: "team"),
            let subject = PassSubject(passType: Array(passType), team: Array(team))
        else { throw .statement }
        var certificates: [[UInt8]] = []
        while reader.hasLine(beginning: "certificate ") {
            guard certificates.count < Self.maximumCertificateCount,
                let certificate = reader.line(named: "certificate").flatMap({ try? Base64.decode($0) })
            else { throw .statement }
            certificates.append(certificate)
        }
        guard !certificates.isEmpty, (try? reader.end()) != nil else { throw .statement }
        self.init(
            origin: origin, version: version, limit: limit, tokenKey: tokenKey, subject: subject,
            certificates: certificates)
    }

    private static let format = Array("signet-card-signer/v1\n".utf8)
}

/// For which cards a certificate signs: the words that a wallet compares with the card's.
public struct PassSubject: Hashable, Sendable {
    /// Such as `pass.org.example.card`.
    public let passType: [UInt8]
    /// Such as `ABCDE12345`.
    public let team: [UInt8]

    /// Words of 1 to 128 characters `A` to `Z`, `a` to `z`, `0` to `9`, `.` and `-`; nil for others.
    public init?(passType: [UInt8], team: [UInt8]) {
        guard Self.isWord(passType), Self.isWord(team) else { return nil }
        (self.passType, self.team) = (passType, team)
    }

    private static func isWord(_ text: [UInt8]) -> Bool {
        (1...128).contains(text.count)
            && text.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
                    || byte == UInt8(ascii: "-")
            }
    }
}
