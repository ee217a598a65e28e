public import KeyTransparency
import NoteLog
public import SealedMessages
import SealedNotes
import SignetClient

/// Messages between verified people, over whatever carries an app's bytes.
extension Account {
    /// Seals a body for people and for the user's own devices, signed by this device. Their keys are verified first: nothing is sealed
    /// for somebody whose keys have changed without the user's word.
    ///
    /// - Parameters:
    ///   - context: what the message is for, such as `com.example.chat`, 1 to 255 bytes. It opens for nothing else.
    /// - Returns: the message, for the app to send: `SealedMessage.encoded` are its bytes.
    /// - Throws: ``SignetError``.
    ///
    /// Security: the message is signed, so that a recipient can show others who wrote it. It is sealed to the keys that devices have as
    /// long as they are used: whoever takes a device opens what was sealed to it before.
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

    /// Opens a message that came, and verifies who sealed it.
    ///
    /// - Parameter context: what it has to be for.
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

    /// The devices of somebody that a message may come from. Of a person whose devices have changed these are those that the user
    /// accepted and that the log still has.
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
