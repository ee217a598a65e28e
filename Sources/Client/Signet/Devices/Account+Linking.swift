import DeviceKeystores
public import KeyTransparency
public import SignetAPI
public import SignetClient

/// A further device of an account: the user carries its card to a device that holds the identity, and types on each of the two the digits
/// that the other one shows.
extension Account {
    /// On the new device: makes its keys, and its card. Interrupted, it is called again, and makes another card for the same keys.
    ///
    /// - Parameters:
    ///   - profile: the directory, as the user was given it by a way that the directory's server does not control.
    ///   - passphrase: what the keys are sealed under; refused when it is guessed too soon.
    ///   - place: what is to hold a part of the keys that the home folder lacks; nil for none.
    /// - Throws: ``SignetError``.
    public static func makeCard(
        for handle: Handle, at profile: DirectoryProfile, in folder: HomeFolder, passphrase: SecretBytes,
        keysAt place: KeystorePlaceKind? = nil, surroundings: Surroundings = .system
    ) async throws(SignetError) -> MadeCard {
        try await begin(handle, profile, folder, withIdentity: false, place, passphrase, surroundings).card()
    }

    /// On the new device, once the other one has added it: accepts the account, and opens it.
    ///
    /// - Parameter code: the digits that the other device shows, as the user typed them here.
    /// - Throws: ``SignetError``: ``SignetError/otherAccount``: nothing was accepted.
    public static func join(
        in folder: HomeFolder, passphrase: SecretBytes, typed code: String, surroundings: Surroundings = .system
    ) async throws(SignetError) -> Account {
        let home = try OpenHome(folder, in: surroundings)
        guard let keystore = home.keystore else { throw .noAccount(folder: folder.path) }
        let secrets = try AccountBeginning.open(keystore, in: folder, with: passphrase)
        return try await Account(try await home.accountToConfirm().accept(typed: code), secrets)
    }

    /// Reads a new device's card, and compares it with the digits that the new device shows and the user typed here.
    ///
    /// - Throws: ``SignetError``: ``SignetError/otherCard``.
    public func card(_ bytes: [UInt8], typed code: String) throws(SignetError) -> ComparedCard {
        try home.card(bytes).compared(typed: code)
    }

    /// Adds a new device to the account, and verifies that the log has it. One that is in the account already stays as it is, and its
    /// digits are shown again.
    ///
    /// - Parameter approval: of ``PresenceAction/linkDevice``.
    /// - Throws: ``SignetError``: nothing was added; or the account is not as this device left it.
    public func link(
        _ card: ComparedCard, _ approval: consuming Approval
    ) async throws(SignetError) -> LinkedDevice {
        try check(approval, is: .linkDevice)
        let secrets = secrets
        let verdict = try await run { client throws(ClientError) in
            try await client.addDevice(card.card, by: secrets)
        }
        let account = OwnAccount(verdict, on: secrets.keys.signing)
        if let alarm = account.alarm { throw alarm }
        let state = verdict.lookup.state.authored
        let code = try home.code { () throws(KeystoreError) in
            try LinkCode(confirming: card.card, identityKey: state.identityKey, stateHash: state.hash)
        }
        let number = account.devices.first { $0.signingKey == card.deviceKey }?.number ?? 0
        return LinkedDevice(number: number, confirmation: code.text, account: account)
    }
}
