// SPDX-License-Identifier: Apache-2.0

import Crypto

@testable import KeyPinning

@Sendable func pinParsers() -> [Parser] {
    [
        .canonical("policy", { try PinPolicy(decoding: $0) }, \.encoded),
        .settled("pin", { try SPKIPin($0) }, { $0.text() }),
        Parser("hash of a bare key") { (try? RawKeyHash($0)) != nil },
        .settled("server name", { try ServerName($0) }, \.text),
        .settled("pattern of hosts", { try HostPattern($0) }, \.text),
        Parser("certificate") { bytes in
            guard let fields = try? CertificateFields(bytes) else { return false }
            _ = try? RawKeyHash(of: fields)
            return fields.pin.digest.count == 32
        },
        Parser("PEM") { bytes in
            guard let certificates = try? PEMBlock.certificates(in: bytes) else { return false }
            let written = certificates.flatMap { PEMBlock.text($0) }
            demand(try? PEMBlock.certificates(in: written), equals: certificates, "PEM: others were written")
            return true
        },
    ]
}

/// Pins as other tools write them.
@Sendable func pinListParsers() -> [Parser] {
    let certificate = needed { try fuzzedCertificate() }
    return PinListFormat.allCases.map { format in
        let reader = PinListReader(format, host: bytes("example.com"), certificates: [certificate])
        return Parser("\(format)") { bytes in
            guard let entries = try? reader.entries(in: bytes) else { return false }
            for entry in entries {
                guard let rules = try? entry.rules() else { continue }
                for rule in rules { for pin in rule.pins { _ = pin.key.text() } }
            }
            return true
        }
    }
}

private let certificateKey = bytes(1, 32)

/// What is signed in a certificate, no longer than it must be: the list of bare hashes is read against one.
private func fuzzedCertificate() throws -> CertificateFields {
    func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        let contents = contents.flatMap { $0 }
        return [tag, UInt8(contents.count)] + contents
    }
    let (empty, time) = (element(DERTag.sequence), element(DERTag.utcTime, bytes("260101000000Z")))
    let key = element(DERTag.sequence, empty, element(DERTag.bitString, [0], certificateKey))
    let signed = element(
        DERTag.sequence, element(DERTag.integer, [1]), empty, empty, element(DERTag.sequence, time, time), empty, key)
    return try CertificateFields(signed: signed[...])
}

func pinSeeds() -> [[UInt8]] {
    [SHA256.hash(data: certificateKey).flatMap { bytes(String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)) }]
}
