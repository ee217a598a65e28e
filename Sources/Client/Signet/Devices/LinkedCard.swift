import DeviceKeystores
import KeyTransparency
import SignetAPI
import SignetClient

/// The card of a new device as it came. Whether somebody changed it on the way, only the user can tell.
public struct CarriedCard: Sendable {
    let card: LinkCard
    let home: OpenHome

    /// Compares it with what the user typed. The digits are not shown, so that nobody says yes without looking.
    ///
    /// - Parameter code: the digits that the new device shows, with whatever spaces.
    /// - Throws: ``SignetError/otherCard``.
    public func compared(typed code: String) throws(SignetError) -> ComparedCard {
        let shown = try home.code { () throws(KeystoreError) in try LinkCode(of: card) }
        guard shown.matches(typed: code) else { throw .otherCard }
        return ComparedCard(card: card)
    }
}

/// The card of a new device, whose digits the user has typed here as the new device shows them.
///
/// Security: only ``CarriedCard/compared(typed:)`` makes one, so that no device is added whose card somebody changed on the way.
public struct ComparedCard: Sendable {
    let card: LinkCard

    /// Ed25519, 32 bytes.
    var deviceKey: [UInt8] { card.device.request.keys.signing }
}

/// The card that a new device made, and the digits that it shows.
public struct MadeCard: Sendable {
    /// The card, for a device that holds the identity. There is no secret in it.
    public let bytes: [UInt8]
    /// `1234 5678 9012`: the new device shows them, and the user types them on the device that adds it.
    public let code: String
}

/// A device that was added to the account.
public struct LinkedDevice: Sendable {
    /// Its number.
    public let number: UInt16
    /// `1234 5678 9012`: this device shows them, and the user types them on the new one, which accepts nothing before.
    public let confirmation: String
    /// The account with it.
    public let account: OwnAccount
}

extension AccountBeginning {
    /// Makes the card by which a device that holds the identity adds this one. It is good for an hour; making another one ends it.
    ///
    /// - Throws: ``SignetError``.
    public func card() async throws(SignetError) -> MadeCard {
        let secrets = secrets
        let (card, _) = try await home.run { client throws(ClientError) in try await client.linkCard(secrets) }
        return MadeCard(
            bytes: card.encoded, code: try home.code { () throws(KeystoreError) in try LinkCode(of: card) }.text)
    }
}

extension OpenHome {
    /// Reads a new device's card.
    ///
    /// - Throws: ``SignetError/client(_:)``: it is no card of this directory's log.
    public func card(_ bytes: [UInt8]) throws(SignetError) -> CarriedCard {
        do { return CarriedCard(card: try LinkCard(decoding: bytes, policy: profile.trust.policy), home: self) } catch {
            throw .client(.linkCard(error))
        }
    }

    func code(_ make: () throws(KeystoreError) -> LinkCode) throws(SignetError) -> LinkCode {
        do { return try make() } catch { throw .keystore(error, path: folder.keystore.path) }
    }

    /// On a new device: what the directory shows of the account, for the user to confirm. Nothing is accepted by it.
    ///
    /// - Throws: ``SignetError``: of nobody who made a card here, and before another device has added this one.
    public func accountToConfirm() async throws(SignetError) -> AccountToConfirm {
        let (account, home) = try await run { client throws(ClientError) in try await client.accountToConfirm() }
        return AccountToConfirm(account: account, home: home)
    }
}

/// The account that the directory shows a new device. What it says is nowhere believed before it is compared.
public struct AccountToConfirm: Sendable {
    let account: UnconfirmedAccount
    let home: OpenHome

    /// Accepts the account on this device.
    ///
    /// - Parameter code: the digits that the other device shows, with whatever spaces.
    /// - Returns: the home in force.
    /// - Throws: ``SignetError``: ``SignetError/otherAccount``: the directory shows this device another account than the user has.
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
