// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import SecretMemory
import SecretSharing

/// The private half of the ask key of a ``KeyTransparency/RecoveryCommitment``: its holder may ask for the identity and
/// answer requests for it, and can do nothing else with it. Each guardian has it, and the owner.
///
/// An Ed25519 seed of 32 bytes.
public struct AskKey: Sendable {
    let seed: SecretBytes

    init(seed: SecretBytes) { self.seed = seed }

    /// Draws a key.
    init(using generator: inout some RandomNumberGenerator) {
        var bytes = (0..<32).map { _ -> UInt8 in generator.next() }
        defer { bytes.wipe() }
        seed = SecretBytes(copying: bytes.span)
    }

    /// The public half, 32 bytes; empty when the seed is not 32 bytes long.
    public var publicKey: [UInt8] { key.map { Array($0.publicKey.rawRepresentation) } ?? [] }

    /// An Ed25519 signature, 64 bytes; empty when the seed is not 32 bytes long.
    public func signature(over message: [UInt8]) -> [UInt8] {
        (try? key?.signature(for: message)).map(Array.init) ?? []
    }

    private var key: Curve25519.Signing.PrivateKey? {
        seed.withSpan { bytes in
            bytes.withUnsafeBufferPointer { try? Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
        }
    }
}

extension AskKey {
    private static let line = Array("signet-paper/v1 ".utf8)

    /// What the owner keeps on paper, for the day on which all devices are gone: `signet-paper/v1 `, the seed in unpadded
    /// base64url, LF.
    public var paper: [UInt8] {
        Self.line + seed.withSpan { Base64URL.encode($0) } + [UInt8(ascii: "\n")]
    }

    /// Reads what was kept on paper; spaces and line ends around it do not matter.
    ///
    /// - Returns: nil when it is none.
    public init?(paper text: [UInt8]) {
        let white = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let text = text.drop(while: white).reversed().drop(while: white).reversed()
        guard text.starts(with: Self.line), var bytes = try? Base64URL.decode(Array(text.dropFirst(Self.line.count))),
            bytes.count == 32
        else { return nil }
        defer { bytes.wipe() }
        seed = SecretBytes(copying: bytes.span)
    }
}
