// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import NoteLog
import NotesClient
public import SealedMessages
import SealedNotes
import SignetClient

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Messages between verified people. The app chooses the transport.
extension Account {
    /// Seals a body for people and for the user's own devices, signed by this device. The recipients' keys are verified first:
    /// nothing is sealed for a person whose keys have changed without the user's approval.
    ///
    /// - Parameters:
    ///   - context: the purpose of the message, such as `com.example.chat`, 1 to 255 bytes. The message does not open for any
    ///     other context.
    /// - Returns: the message, for the app to send; `SealedMessage.encoded` gives its bytes.
    /// - Throws: ``SignetError``.
    ///
    /// Security: the message is signed, so that a recipient can show others who wrote it. It is sealed to keys that a device
    /// keeps for as long as it is used: an attacker who takes over a device can open what was sealed to it before.
    public func seal(
        _ body: some Sequence<UInt8>, to people: [Handle], for context: String
    ) async throws(SignetError) -> SealedMessage {
        var recipients: [WrapRecipient] = []
        for person in Set(people + [handle]) { recipients += try await contact(person).recipients }
        do throws(SealedMessageError) {
            return try SealedMessage.seal(
                Array(body), context: Array(context.utf8), to: recipients,
                from: Author(handle: handle, device: secrets.keys.signing), at: surroundings.now(), with: secrets.sign)
        } catch { throw .message(error) }
    }

    /// Opens a received message, and verifies who sealed it.
    ///
    /// - Parameter context: the context that the message must have.
    /// - Throws: ``SignetError``: ``SignetError/message(_:)`` names the check that failed; ``SignetError/stranger(_:)``;
    ///   ``SignetError/changed(_:)`` when it comes from a device that the user has not accepted.
    public func open(
        _ bytes: some Sequence<UInt8>, for context: String
    ) async throws(SignetError) -> OpenedMessage {
        let unverified: UnverifiedMessage
        do throws(SealedMessageError) {
            unverified = try SealedMessage(decoding: Array(bytes)).open(with: device, context: Array(context.utf8))
        } catch { throw .message(error) }
        let keys = try await authorKeys(of: unverified.claimedSender)
        do { return try unverified.verified(by: keys) } catch { throw .message(error) }
    }

    /// The devices of a sender from which a message may come. If a person's devices have changed, these are the devices that
    /// the user accepted and that the log still has.
    private func authorKeys(of sender: Author) async throws(SignetError) -> AuthorKeys {
        if let contact = knownContact(sender.handle) { return contact.authorKeys }
        let verdict = try await verdict(sender.handle)
        guard case .changed(let change) = verdict.outcome else { return try await contact(verdict).authorKeys }
        let pinned: PinnedPeer?
        do { pinned = try await home.client.store.pinnedPeer(sender.handle) } catch { throw .client(.store(error)) }
        let accepted = AuthorKeys(verdict.lookup, acceptedIn: pinned)
        guard accepted.devices.contains(sender.device) else { throw .changed(KeyChange(verdict, change)) }
        return accepted
    }
}

extension Account {
    /// Seals a text, in UTF-8, as `seal(_:to:for:)` does bytes.
    ///
    /// - Throws: ``SignetError``.
    public func seal(
        _ text: String, to people: [Handle], for context: String
    ) async throws(SignetError) -> SealedMessage {
        try await seal(text.utf8, to: people, for: context)
    }
}

extension MessageContent {
    /// The body that the app sealed, as text; a byte that is not UTF-8 is read as U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// When the message was sealed by the sender's clock, to a second.
    public var date: Date { Date(seconds: time) }
}
