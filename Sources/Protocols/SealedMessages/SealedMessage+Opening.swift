// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
public import NoteLog
public import SealedNotes

/// What a device takes from a message, check by check.
extension SealedMessage {
    /// Opens a message for this device. Whose device signed it is the last question: ``UnverifiedMessage/verified(by:)``.
    ///
    /// - Parameter context: what the message has to be for.
    /// - Throws: ``SealedMessageError``.
    public func open(
        with keys: DeviceAgreementKeys, context: [UInt8]
    ) throws(SealedMessageError) -> UnverifiedMessage {
        let key = try unwrap(keys)
        try checkCommitment(key)
        let (content, signature) = try decrypt(key)
        try Self.checkContext(content, context)
        try Self.checkAddress(content, keys)
        try checkSignature(content, signature)
        return UnverifiedMessage(id: id, content: content)
    }

    /// A wrap for the keys that this device has.
    private func unwrap(_ keys: DeviceAgreementKeys) throws(SealedMessageError) -> SymmetricKey {
        let hint = Self.hint(of: keys.publicHash, in: id)
        let own = wraps.filter { $0.hint == hint }
        guard !own.isEmpty else { throw .notForThisDevice }
        for wrap in own {
            let opened = try? WrapCipher.open(
                wrap.encapsulation, wrap.ciphertext, with: keys, suite: .xWing, purpose: .message, associated: header)
            if let opened { return opened.key }
        }
        throw .notOpened
    }

    /// The one key to which the header commits, so that one message says the same to every reader.
    private func checkCommitment(_ key: SymmetricKey) throws(SealedMessageError) {
        guard Self.commitment(to: key, of: id) == commitment else { throw .anotherKey }
    }

    /// The content as it was sealed for this header, and in its one form.
    private func decrypt(_ key: SymmetricKey) throws(SealedMessageError) -> (MessageContent, signature: [UInt8]) {
        let padded: [UInt8]
        do {
            let box = try AES.GCM.SealedBox(
                nonce: try Self.nonce(), ciphertext: sealed.dropLast(16), tag: sealed.suffix(16))
            padded = Array(try AES.GCM.open(box, using: key, authenticating: header))
        } catch { throw .notOpened }
        guard let plain = Padding.unpad(padded), let decoded = try? MessageContent.decode(plain) else {
            throw .malformedContent
        }
        return decoded
    }

    /// For this use of the app.
    private static func checkContext(_ content: MessageContent, _ context: [UInt8]) throws(SealedMessageError) {
        guard content.context == context else { throw .anotherContext }
    }

    /// Meant for this device by its sender, and not passed on by a reader.
    private static func checkAddress(
        _ content: MessageContent, _ keys: DeviceAgreementKeys
    ) throws(SealedMessageError) {
        guard content.recipients.contains(MessageContent.Address(keys)) else { throw .notAddressed }
    }

    /// Signed by the device that it names, for this header.
    private func checkSignature(_ content: MessageContent, _ signature: [UInt8]) throws(SealedMessageError) {
        guard Self.isSignature(signature, of: header + content.encoded, by: content.sender) else {
            throw .invalidSignature
        }
    }
}

/// A message that opened, and was signed by the device that it names. Whether that is a device of the named person is not known yet.
public struct UnverifiedMessage: Hashable, Sendable {
    let id: MessageID
    let content: MessageContent

    /// Who claims to have sealed it: whom to look up.
    public var claimedSender: Author { content.sender }

    /// The message, if the device is the person's now.
    ///
    /// - Parameter keys: the devices of the claimed sender, from a verified lookup that the user's decisions let pass.
    /// - Throws: ``SealedMessageError/notTheirDevice(_:)``.
    ///
    /// Security: what a device sealed before it was removed is refused once its removal is known: who took it could date it back.
    public func verified(by keys: AuthorKeys) throws(SealedMessageError) -> OpenedMessage {
        guard keys.handle == content.sender.handle, keys.devices.contains(content.sender.device) else {
            throw .notTheirDevice(content.sender)
        }
        return OpenedMessage(id: id, content: content)
    }
}

/// A message whose every check held.
public struct OpenedMessage: Hashable, Sendable {
    /// Its name. A message that is received twice has the same: an app that must not act twice remembers it.
    public let id: MessageID
    /// What it says, who sealed it, and for whom.
    public let content: MessageContent
}
