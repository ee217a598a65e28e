import Crypto
public import SecretSharing

/// The private half of the ask key of a ``KeyTransparency/RecoveryCommitment``: whoever has it may ask for the identity
/// and answer those who ask, and can do nothing else with it. Each guardian has it, and the owner.
///
/// An Ed25519 seed of 32 bytes.
public struct AskKey: Sendable {
    let seed: SecretOctets

    init(seed: SecretOctets) { self.seed = seed }

    /// Draws a key.
    init(using generator: inout some RandomNumberGenerator) {
        var bytes = (0..<32).map { _ -> UInt8 in generator.next() }
        defer { bytes.wipeSecret() }
        seed = SecretOctets(copying: bytes.span)
    }

    /// The public half, 32 bytes; empty when the seed is not 32 bytes long.
    public var publicKey: [UInt8] { key.map { Array($0.publicKey.rawRepresentation) } ?? [] }

    /// An Ed25519 signature, 64 bytes; empty when the seed is not 32 bytes long.
    func signature(over message: [UInt8]) -> [UInt8] { (try? key?.signature(for: message)).map(Array.init) ?? [] }

    private var key: Curve25519.Signing.PrivateKey? {
        seed.withBytes { bytes in
            bytes.withUnsafeBufferPointer { try? Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
        }
    }
}
