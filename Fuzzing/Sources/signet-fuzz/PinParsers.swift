import KeyPinning

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
    PinListFormat.allCases.map { format in
        let reader = PinListReader(format, host: Array("example.com".utf8))
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
