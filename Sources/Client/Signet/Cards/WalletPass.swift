// SPDX-License-Identifier: Apache-2.0

/// A card for the wallet of a telephone.
public struct WalletPass: Hashable, Sendable {
    /// The file (`.pkpass`).
    public let archive: [UInt8]
    /// Who issued the signer's certificate, as that says. A telephone takes the card only if it was Apple.
    public let certifiedBy: String
}
