// SPDX-License-Identifier: Apache-2.0

public import CardSigning
public import DeviceIdentity
public import SignetClient

/// The tokens for which a signer of wallet cards signs. They say nothing about the person, so they are kept for another day: a token that is
/// used as soon as it was given is easily guessed whose it is.
public actor TokenBook {
    private let list: LedgerFile<TokenPurse>

    /// A book over a keystore and a file.
    public init(keys keystore: any PrivateKeyStore, list file: DurableFile) {
        list = LedgerFile(keys: keystore, sealedUnder: .cardTokens, file: file)
    }

    /// The tokens that are there, those of other keys left out.
    ///
    /// - Throws: ``SitesError``.
    public func tokens(of key: TokenKey, _ grant: consuming PresenceGrant) async throws(SitesError) -> [SigningToken] {
        try await list.open(grant).0.tokens.filter(key.isValid)
    }

    /// Keeps tokens.
    ///
    /// - Throws: ``SitesError``.
    public func add(_ tokens: [SigningToken], _ grant: consuming PresenceGrant) async throws(SitesError) {
        let (_, seal) = try await list.open(grant)
        try list.change(under: seal) { purse throws(SitesError) in purse.add(tokens) }
    }

    /// Forgets a token that was used.
    ///
    /// - Throws: ``SitesError``.
    public func remove(_ token: SigningToken, _ grant: consuming PresenceGrant) async throws(SitesError) {
        let (_, seal) = try await list.open(grant)
        try list.change(under: seal) { purse throws(SitesError) in purse.tokens.removeAll { $0 == token } }
    }
}
