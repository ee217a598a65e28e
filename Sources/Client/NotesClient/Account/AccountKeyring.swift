// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetClient

/// The account master keys that this device has, one for each epoch, and how the account's devices hand them to each
/// other. The keyring sends no requests and writes nothing to the disk.
struct AccountKeyring: Sendable {
    private let secrets: DeviceSecrets
    private let device: DeviceAgreementKeys
    private let author: Author
    /// The keys by epoch.
    private(set) var keys: [UInt32: AccountMasterKey] = [:]

    init(_ secrets: DeviceSecrets, _ device: DeviceAgreementKeys) {
        self.secrets = secrets
        self.device = device
        author = Author(handle: secrets.handle, device: secrets.keys.signing)
    }

    /// The key of the newest epoch.
    var newest: AccountMasterKey? { keys.max { $0.key < $1.key }?.value }

    mutating func add(_ key: AccountMasterKey) { keys[key.epoch] = key }

    mutating func removeAll() { keys = [:] }

    /// Opens the keys that this device has stored for itself.
    mutating func add(stored wraps: [AccountDeviceWrap]) throws(NotesError) {
        for wrap in wraps {
            // The wrap was judged before it was stored.
            let own = AuthorKeys(pinned: [wrap.sender.device], of: author.handle)
            do { add(try wrap.open(with: device, own: own)) } catch { throw .accountKey(error) }
        }
    }

    // MARK: From device to device

    /// The key that another device of the account, or an earlier attempt of this one, left for this device at the
    /// server; nil if it is not newer.
    ///
    /// - Parameter own: the account's keys; one of them must have signed the wrap.
    /// - Throws: ``NotesError/noAccountKey``: another device gave the account a newer key, and this device does not
    ///   have it yet.
    func newer(in there: AccountKeys, from own: AuthorKeys) throws(NotesError) -> AccountMasterKey? {
        guard let bytes = there.devices[author.device] else {
            try checkNothingNewer(there, own)
            return nil
        }
        guard let wrap = try? AccountDeviceWrap(decoding: bytes) else { throw .malformedAnswer }
        guard wrap.epoch > newest?.epoch ?? 0 else { return nil }
        do { return try wrap.open(with: device, own: own) } catch { throw .accountKey(error) }
    }

    /// Requires that no other device has begun a newer epoch, because this device must not make a second key for it.
    private func checkNothingNewer(_ there: AccountKeys, _ own: AuthorKeys) throws(NotesError) {
        let isNewer = there.devices.values.contains { bytes in
            guard let wrap = try? AccountDeviceWrap(decoding: bytes) else { return false }
            return own.devices.contains(wrap.sender.device) && wrap.epoch > newest?.epoch ?? 0
        }
        guard !isNewer else { throw .noAccountKey }
    }

    /// The stored wraps, changed so that each device of the account has one, signed by a current device, and no other
    /// device has any.
    func handed(
        _ key: AccountMasterKey, to own: VerifiedLookup, _ there: AccountKeys
    ) throws(NotesError) -> AccountKeys {
        let current = Set(own.state.devices.map(\.keys.signing))
        let wraps = there.devices.compactMapValues { try? AccountDeviceWrap(decoding: $0) }
        // What a server was restored from may have the keys of an earlier epoch, and a password that opens those.
        let isBehind = wraps.values.contains { current.contains($0.sender.device) && $0.epoch < key.epoch }
        var devices: [[UInt8]: [UInt8]] = [:]
        for recipient in WrapRecipient.devices(of: own) {
            let device = recipient.author.device
            if let old = wraps[device], !isBehind, current.contains(old.sender.device),
                old.recipientKeys == recipient.keysHash
            {
                devices[device] = old.encoded
            } else {
                devices[device] = try wrap(key, recipient).encoded
            }
        }
        return AccountKeys(
            version: there.version, password: isBehind ? nil : there.password,
            recovery: isBehind ? nil : there.recovery, devices: devices)
    }

    /// A wrap of a key for this device alone.
    ///
    /// - Throws: ``NotesError``; `deviceNotAddedYet` if the account does not list this device.
    func wrapForThisDevice(_ key: AccountMasterKey, _ own: VerifiedLookup) throws(NotesError) -> AccountDeviceWrap {
        guard let recipient = WrapRecipient.devices(of: own).first(where: { $0.author == author }) else {
            throw .client(.misuse(.deviceNotAddedYet))
        }
        return try wrap(key, recipient)
    }

    private func wrap(_ key: AccountMasterKey, _ recipient: WrapRecipient) throws(NotesError) -> AccountDeviceWrap {
        do { return try AccountDeviceWrap(key, to: recipient, sender: author, with: secrets.sign) } catch {
            throw .sealed(error)
        }
    }
}
