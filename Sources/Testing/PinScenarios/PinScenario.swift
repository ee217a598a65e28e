// SPDX-License-Identifier: Apache-2.0

public import KeyPinning

/// A server's chain, whom a client trusts, what it pins, and whether it must go through.
public struct PinScenario: Sendable, CustomStringConvertible {
    /// Its row in the matrix, such as `08c`.
    public let row: String
    /// What it is, in a few words.
    public let title: String
    /// Whether a client must accept the server; otherwise it must not send it a single byte of a request.
    public let mustPass: Bool
    /// What the server presents, DER, its own certificate first.
    public let presented: [[UInt8]]
    /// The private key of its certificate, PEM.
    public let keyPEM: String
    /// Whom the client trusts, DER.
    public let anchors: [[UInt8]]
    /// What the client pins for ``host``.
    public let pins: [Pin]

    /// Row and title.
    public var description: String { "\(row) \(title)" }

    /// The host that every client of a scenario means to reach.
    public static let host = "localhost"

    /// The policy of the client.
    ///
    /// - Throws: ``KeyPinning/PinRuleFault``, ``KeyPinning/PinPolicyFault``; never for the scenarios of ``all(at:)``.
    public func policy(mode: PinMode = .enforce, version: UInt64 = 1) throws -> PinPolicy {
        let rule = try PinRule(
            for: HostPattern(Self.host.utf8), mode: mode, pins: mode == .trustOnly ? [] : pins)
        return try PinPolicy(version: version, environment: .staging, rules: [rule])
    }
}
