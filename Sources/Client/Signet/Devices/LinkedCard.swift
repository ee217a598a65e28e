// SPDX-License-Identifier: Apache-2.0

import DeviceKeystores
import KeyTransparency
import SignetAPI
import SignetClient

/// The card of a new device as it was received. Only the user can tell whether it was changed in transit.
public struct CarriedCard: Sendable {
    let card: LinkCard
    let home: OpenHome

    /// Compares the card with what the user typed. The expected digits are not shown, so that the user cannot confirm without
    /// looking.
    ///
    /// - Parameter code: the digits that the new device shows, with any spaces.
    /// - Throws: ``SignetError/otherCard``.
    public func compared(typed code: String) throws(SignetError) -> ComparedCard {
        let shown = try home.code { () throws(KeystoreError) in try LinkCode(of: card) }
        guard shown.matches(typed: code) else { throw .otherCard }
        return ComparedCard(card: card)
    }
}

/// The card of a new device, confirmed by the digits that the new device shows and the user typed here.
///
/// Security: only ``CarriedCard/compared(typed:)`` makes one, so that a device whose card was changed in transit cannot be
/// added.
public struct ComparedCard: Sendable {
    let card: LinkCard

    /// Ed25519, 32 bytes.
    var deviceKey: [UInt8] { card.device.request.keys.signing }
}

/// The card that a new device made, and the digits that the device shows.
public struct MadeCard: Sendable {
    /// The card, for a device that holds the identity. It contains no secret.
    public let bytes: [UInt8]
    /// `1234 5678 9012`: the new device shows these digits, and the user types them on the device that adds it.
    public let code: String

    init(_ card: LinkCard, in home: OpenHome) throws(SignetError) {
        bytes = card.encoded
        code = try home.code { () throws(KeystoreError) in try LinkCode(of: card) }.text
    }
}

/// A device that was added to the account.
public struct LinkedDevice: Sendable {
    /// Its number.
    public let number: UInt16
    /// `1234 5678 9012`: this device shows these digits, and the user types them on the new device, which accepts nothing
    /// before.
    public let confirmation: String
    /// The account with the new device.
    public let account: OwnAccount
}

extension AccountBeginning {
    /// Makes the card with which a device that holds the identity adds this one. It is valid for an hour; making another card
    /// invalidates it.
    ///
    /// - Throws: ``SignetError``.
    public func card() async throws(SignetError) -> MadeCard {
        try checkGivenFile()
        let secrets = secrets
        let (card, _) = try await home.run { client throws(ClientError) in try await client.linkCard(secrets) }
        return try MadeCard(card, in: home)
    }
}

extension OpenHome {
    /// Reads a new device's card.
    ///
    /// - Throws: ``SignetError/client(_:)`` if it is not a card for this directory's log.
    public func card(_ bytes: [UInt8]) throws(SignetError) -> CarriedCard {
        do { return CarriedCard(card: try LinkCard(decoding: bytes, policy: profile.trust.policy), home: self) } catch {
            throw .client(.linkCard(error))
        }
    }

    func code(_ make: () throws(KeystoreError) -> LinkCode) throws(SignetError) -> LinkCode {
        do { return try make() } catch { throw .keystore(error, path: folder.keystore.path) }
    }

    /// On a new device: the account as the directory shows it, for the user to confirm. This call accepts nothing.
    ///
    /// - Throws: ``SignetError``, also if no card was made here, and before another device has added this one.
    public func accountToConfirm() async throws(SignetError) -> AccountToConfirm {
        let (account, home) = try await run { client throws(ClientError) in try await client.accountToConfirm() }
        return AccountToConfirm(account: account, home: home)
    }
}

/// The account that the directory shows a new device. Nothing in it is trusted before it is compared.
public struct AccountToConfirm: Sendable {
    let account: UnconfirmedAccount
    let home: OpenHome

    /// Accepts the account on this device.
    ///
    /// - Parameter code: the digits that the other device shows, with any spaces.
    /// - Returns: the home that is now in force.
    /// - Throws: ``SignetError``: with ``SignetError/otherAccount``, the directory shows this device a different account from
    ///   the user's.
    public func accept(typed code: String) async throws(SignetError) -> OpenHome {
        let account = account
        let shown = try home.code { () throws(KeystoreError) in
            try LinkCode(
                confirming: account.card, identityKey: account.identityKey, stateHash: account.stateHash)
        }
        guard shown.matches(typed: code) else { throw .otherAccount }
        return try await home.run { client throws(ClientError) in try await client.acceptCompared(account) }.home
    }
}
