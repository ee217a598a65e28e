// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A report of a chain in which no key was pinned, for the server's operator.
///
/// Spec: RFC 7469 section 3, its JSON object and member names; members beyond those begin with `signet-`.
public struct ViolationReport: Hashable, Sendable {
    /// When, in seconds since 1970.
    public let time: UInt64
    /// The host.
    public let host: ServerName
    /// The port.
    public let port: Int
    /// The rule's pattern; nil for an unknown host.
    public let pattern: HostPattern?
    /// Whether the connection was refused.
    public let wasRefused: Bool
    /// The certificates as presented, DER.
    public let servedChain: [[UInt8]]
    /// The best path that was found, DER; empty if none leads to a trust anchor.
    public let validatedChain: [[UInt8]]
    /// The rule's pins.
    public let knownPins: [SPKIPin]
    /// When they should have been replaced.
    public let expiry: PinExpiry?
    /// The proxy that was set.
    public let proxy: ProxyState
    /// The version of the policy that decided.
    public let policyVersion: UInt64

    /// A report.
    public init(
        time: UInt64, host: ServerName, port: Int, rule: PinRule?, wasRefused: Bool, servedChain: [[UInt8]],
        validatedChain: [[UInt8]], proxy: ProxyState, policyVersion: UInt64
    ) {
        self.time = time
        self.host = host
        self.port = port
        pattern = rule?.pattern
        self.wasRefused = wasRefused
        self.servedChain = servedChain
        self.validatedChain = validatedChain
        knownPins = rule?.pins.map(\.key) ?? []
        expiry = rule?.expiry
        self.proxy = proxy
        self.policyVersion = policyVersion
    }

    /// The JSON object, ASCII, members in the order of the specification, one line without its end.
    public var json: [UInt8] {
        var members: [(String, [UInt8])] = [
            ("date-time", quoted(InternetTime.text(time))), ("hostname", quoted(host.text)),
            ("port", Decimal.encode(UInt64(max(0, port)))),
        ]
        if let expiry { members.append(("effective-expiration-date", quoted(InternetTime.text(expiry.time)))) }
        members += [
            ("include-subdomains", Array((includesSubdomains ? "true" : "false").utf8)),
            ("noted-hostname", quoted(pattern?.text ?? host.text)),
            ("served-certificate-chain", list(servedChain.map(Self.pem))),
            ("validated-certificate-chain", list(validatedChain.map(Self.pem))),
            ("known-pins", list(knownPins.map { Self.escaped($0.text(.hpkp)) })),
            ("signet-enforced", Array((wasRefused ? "true" : "false").utf8)),
            ("signet-policy-version", Decimal.encode(policyVersion)),
        ]
        if case .configured(let setting) = proxy { members.append(("signet-proxy", quoted(setting))) }
        let texts = members.map { quoted(Array($0.0.utf8)) + [UInt8(ascii: ":")] + $0.1 }
        return Array("{".utf8) + Array(texts.joined(separator: [0x2C])) + Array("}".utf8)
    }

    private var includesSubdomains: Bool {
        switch pattern {
        case .oneLabelBelow, .anyDepthBelow: true
        case .exactly, nil: false
        }
    }

    private func quoted(_ text: [UInt8]) -> [UInt8] { [0x22] + Self.escaped(text) + [0x22] }

    private func list(_ items: [[UInt8]]) -> [UInt8] {
        [0x5B] + Array(items.map { [0x22] + $0 + [0x22] }.joined(separator: [0x2C])) + [0x5D]
    }

    /// ASCII with quotes and backslashes escaped; what does not print becomes a question mark.
    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x22, 0x5C: [0x5C, byte]
            case 0x20...0x7E: [byte]
            default: [UInt8(ascii: "?")]
            }
        }
    }

    /// A certificate in PEM with its line ends escaped.
    private static func pem(_ der: [UInt8]) -> [UInt8] {
        PEMBlock.text(der).flatMap { $0 == 0x0A ? Array(#"\n"#.utf8) : [$0] }
    }
}
