// SPDX-License-Identifier: Apache-2.0

import DeviceKeystores
public import KeyTransparency
public import SecretMemory
public import SignetAPI
public import SignetClient

/// Linking another device to an account: the user transfers its card to a device that holds the identity, and types on each of
/// the two devices the digits that the other one shows.
extension Account {
    /// On the new device: makes its keys and its card. After an interruption, call it again; it makes another card for the same
    /// keys.
    ///
    /// - Parameters:
    ///   - profile: the directory file, which the user received over a channel that the directory's server does not control.
    ///   - passphrase: the passphrase under which the keys are sealed; refused if it could be guessed too soon.
    ///   - place: the place that holds a part of the keys outside the home folder; nil for none.
    /// - Throws: ``SignetError``.
    public static func makeCard(
        for handle: Handle, at profile: DirectoryProfile, in folder: HomeFolder, passphrase: SecretBytes,
        keysAt place: KeystorePlaceKind? = nil, surroundings: Surroundings = .system
    ) async throws(SignetError) -> MadeCard {
        try await begin(handle, profile, folder, withIdentity: false, place, passphrase, surroundings).card()
    }

    /// On the new device, after the other device has added it: accepts the account, and opens it.
    ///
    /// - Parameter code: the digits that the other device shows, as the user typed them here.
    /// - Throws: ``SignetError``: with ``SignetError/otherAccount``, nothing was accepted.
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

    /// Adds a new device to the account, and verifies that the log has it. A device that is already in the account is left
    /// unchanged, and its digits are shown again.
    ///
    /// - Parameter approval: of ``PresenceAction/linkDevice``.
    /// - Throws: ``SignetError`` if nothing was added, or if the account is not in the state in which this device left it.
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
