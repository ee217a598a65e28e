// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
public import NoteLog

extension NoteKey {
    /// Encrypts the key to a device, for the step of the control log that makes or shares it.
    ///
    /// - Parameters:
    ///   - state: the note's state after that step; the recipient is a member in it, and the key its current one.
    ///   - checkpoint: the sender's newest checkpoint of the directory's log, sealed behind the key, so that the recipient
    ///     finds out whether both see one log; at most ``NoteLog/WrapRecord/maximumCheckpointByteCount`` bytes; empty for none.
    ///   - older: keys of the epochs right before, the oldest first, for a member who may read what was written under
    ///     them; at most
    ///     ``NoteLog/WrapRecord/maximumOlderKeyCount``.
    ///   - sender: the signer.
    ///   - sign: gives the 64-byte Ed25519 signature of the sender's device over the bytes passed.
    /// - Throws: ``SealedNoteError/anotherKey``, ``SealedNoteError/notAMember``, ``SealedNoteError/unusableKey`` or
    ///   ``SealedNoteError/record(_:)``.
    public func wrap(
        to recipient: WrapRecipient, and checkpoint: [UInt8] = [], older: [NoteKey] = [], state: ControlState,
        sender: Author, suite: WrapSuite = .xWing, with sign: ([UInt8]) throws -> [UInt8]
    ) throws(SealedNoteError) -> WrapRecord {
        guard state.note == note, state.epoch == epoch, state.keyCommitments.last == commitment else {
            throw .anotherKey
        }
        guard state.role(of: recipient.author.handle) != nil else { throw .notAMember }
        try check(older, state)
        let header = WrapRecord.Header(
            note: note, epoch: epoch, control: state.head, sender: sender, recipient: recipient.author,
            recipientKeys: recipient.keys.hash, suite: suite,
            form: older.isEmpty ? checkpoint.isEmpty ? .key : .keyAndCheckpoint : .keyAndOlderKeys)
        guard checkpoint.count <= WrapRecord.maximumCheckpointByteCount,
            older.count <= WrapRecord.maximumOlderKeyCount
        else { throw .tooLong }
        let sealed: (encapsulation: [UInt8], ciphertext: [UInt8])
        do {
            sealed = try WrapCipher.seal(
                secret, and: checkpoint, older: older.map(\.secret), to: recipient, suite: suite, purpose: .of(header),
                associated: header.encoded)
        } catch { throw .unusableKey }
        do {
            return try WrapRecord(
                header, encapsulation: sealed.encapsulation, ciphertext: sealed.ciphertext, with: sign)
        } catch { throw .record(error) }
    }

    /// The older keys are the note's, of the epochs right before, none left out.
    private func check(_ older: [NoteKey], _ state: ControlState) throws(SealedNoteError) {
        guard older.count < Int(epoch) else { throw .anotherKey }
        let commitments = state.keyCommitments.dropLast().suffix(older.count)
        let epochs = (epoch - UInt32(older.count))..<epoch
        guard older.map(\.epoch).elementsEqual(epochs), older.map(\.commitment).elementsEqual(commitments) else {
            throw .anotherKey
        }
    }

    /// The key that a wrap brings. Checks, in this order: address, note and epoch, membership, sender, encryption,
    /// commitment, older keys.
    ///
    /// - Parameters:
    ///   - control: the note's control log, checked.
    ///   - authors: the keys of the sender, from a verified lookup.
    /// - Throws: ``SealedNoteError``.
    ///
    /// Security: when this returns, the key is the one that the note's owner committed to for this epoch, regardless of
    /// its sender.
    public static func open(
        _ wrap: WrapRecord, with keys: DeviceAgreementKeys, control: VerifiedControl, authors: KnownAuthors
    ) throws(SealedNoteError) -> NoteKey {
        try openAll(wrap, with: keys, control: control, authors: authors).key
    }

    /// The same, with the sender's checkpoint that came behind the key; empty if none did. The sender's device signed
    /// the wrap, so it is the sender's own. Keys of earlier epochs come with it; each must be the one that the owner
    /// committed to, or nothing of the wrap is accepted.
    ///
    /// - Throws: ``SealedNoteError``, as ``open(_:with:control:authors:)``.
    public static func openAll(
        _ wrap: WrapRecord, with keys: DeviceAgreementKeys, control: VerifiedControl, authors: KnownAuthors
    ) throws(SealedNoteError) -> (key: NoteKey, checkpoint: [UInt8], older: [NoteKey]) {
        try checkAddress(wrap.header, keys)
        let moment = try checkPlace(wrap.header, control)
        guard control.role(of: keys.author.handle, at: moment) != nil else { throw .notAMember }
        try checkSender(wrap.header, control, authors)
        let opened = try? WrapCipher.open(
            wrap.encapsulation, wrap.ciphertext, with: keys, suite: wrap.header.suite, purpose: .of(wrap.header),
            associated: wrap.header.encoded)
        guard let opened else { throw .notOpened }
        let key = NoteKey(note: wrap.header.note, epoch: wrap.header.epoch, secret: opened.key)
        guard key.commitment == moment.keyCommitment else { throw .anotherCommitment }
        return (key, opened.checkpoint, try checkOlder(opened.older, before: key, control))
    }

    /// The keys of the epochs right before, each as the log has it.
    private static func checkOlder(
        _ secrets: [SymmetricKey], before key: NoteKey, _ control: VerifiedControl
    ) throws(SealedNoteError) -> [NoteKey] {
        guard secrets.count < Int(key.epoch) else { throw .notOfThisNote }
        let first = key.epoch - UInt32(secrets.count)
        var keys: [NoteKey] = []
        for (secret, epoch) in zip(secrets, first...) {
            let older = NoteKey(note: key.note, epoch: epoch, secret: secret)
            guard older.commitment == control.state.keyCommitments[Int(epoch) - 1] else {
                throw .anotherOlderCommitment(epoch: epoch)
            }
            keys.append(older)
        }
        return keys
    }

    /// For this device and the keys it has now.
    private static func checkAddress(
        _ header: WrapRecord.Header, _ keys: DeviceAgreementKeys
    ) throws(SealedNoteError) {
        guard header.recipient == keys.author, header.recipientKeys == keys.publicHash else {
            throw .notForThisDevice
        }
    }

    /// Of this note, for the epoch of a step that its log has.
    private static func checkPlace(
        _ header: WrapRecord.Header, _ control: VerifiedControl
    ) throws(SealedNoteError) -> ControlMoment {
        guard header.note == control.state.note, let moment = control.moment(after: header.control),
            moment.epoch == header.epoch
        else { throw .notOfThisNote }
        return moment
    }

    /// From the device that signed the step, or from a device that a member has now.
    private static func checkSender(
        _ header: WrapRecord.Header, _ control: VerifiedControl, _ authors: KnownAuthors
    ) throws(SealedNoteError) {
        let signedTheStep = control.entry(header.control)?.author == header.sender
        let isMember = control.state.role(of: header.sender.handle) != nil && authors.isCurrent(header.sender)
        guard signedTheStep || isMember else { throw .noAuthority }
    }
}

extension WrapCipher.Purpose {
    fileprivate static func of(_ header: WrapRecord.Header) -> Self {
        switch header.form {
        case .key: .note
        case .keyAndCheckpoint: .noteAndCheckpoint
        case .keyAndOlderKeys: .noteAndOlderKeys
        }
    }
}
