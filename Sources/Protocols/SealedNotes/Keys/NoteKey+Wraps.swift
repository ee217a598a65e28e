import KeyTransparency
public import NoteLog

extension NoteKey {
    /// Encrypts the key to a device, for the step of the control log that makes or shares it.
    ///
    /// - Parameters:
    ///   - state: the note's state after that step; the recipient is a member in it, and the key its current one.
    ///   - checkpoint: the sender's newest checkpoint of the directory's log, sealed behind the key, so that the recipient
    ///     finds out whether both see one log; at most ``NoteLog/WrapRecord/maximumCheckpointByteCount`` bytes; empty for none.
    ///   - sender: who signs.
    ///   - sign: gives the 64-byte Ed25519 signature of the sender's device over the bytes passed.
    /// - Throws: ``SealedNoteError/anotherKey``, ``SealedNoteError/notAMember``, ``SealedNoteError/unusableKey`` or
    ///   ``SealedNoteError/record(_:)``.
    public func wrap(
        to recipient: WrapRecipient, and checkpoint: [UInt8] = [], state: ControlState, sender: Author,
        suite: WrapSuite = .xWing, with sign: ([UInt8]) throws -> [UInt8]
    ) throws(SealedNoteError) -> WrapRecord {
        guard state.note == note, state.epoch == epoch, state.keyCommitments.last == commitment else {
            throw .anotherKey
        }
        guard state.role(of: recipient.author.handle) != nil else { throw .notAMember }
        let header = WrapRecord.Header(
            note: note, epoch: epoch, control: state.head, sender: sender, recipient: recipient.author,
            recipientKeys: recipient.keys.hash, suite: suite, carriesCheckpoint: !checkpoint.isEmpty)
        guard checkpoint.count <= WrapRecord.maximumCheckpointByteCount else { throw .tooLong }
        let sealed: (encapsulation: [UInt8], ciphertext: [UInt8])
        do {
            sealed = try WrapCipher.seal(
                secret, and: checkpoint, to: recipient, suite: suite, purpose: .of(header), associated: header.encoded)
        } catch { throw .unusableKey }
        do {
            return try WrapRecord(
                header, encapsulation: sealed.encapsulation, ciphertext: sealed.ciphertext, with: sign)
        } catch { throw .record(error) }
    }

    /// The key that a wrap brings. Checks, in this order: address, note and epoch, membership, sender, encryption,
    /// commitment.
    ///
    /// - Parameters:
    ///   - control: the note's control log, checked.
    ///   - authors: the keys of the sender, from a verified lookup.
    /// - Throws: ``SealedNoteError``.
    ///
    /// Security: when this returns, the key is the one that the note's owner committed to for this epoch, whoever sent it.
    public static func open(
        _ wrap: WrapRecord, with keys: DeviceAgreementKeys, control: VerifiedControl, authors: KnownAuthors
    ) throws(SealedNoteError) -> NoteKey {
        try openAll(wrap, with: keys, control: control, authors: authors).key
    }

    /// The same, with the sender's checkpoint that came behind the key; empty if none did. The sender's device signed the wrap, so
    /// nobody else has put it there.
    ///
    /// - Throws: ``SealedNoteError``, as ``open(_:with:control:authors:)``.
    public static func openAll(
        _ wrap: WrapRecord, with keys: DeviceAgreementKeys, control: VerifiedControl, authors: KnownAuthors
    ) throws(SealedNoteError) -> (key: NoteKey, checkpoint: [UInt8]) {
        try checkAddress(wrap.header, keys)
        let moment = try checkPlace(wrap.header, control)
        guard control.role(of: keys.author.handle, at: moment) != nil else { throw .notAMember }
        try checkSender(wrap.header, control, authors)
        let opened = try? WrapCipher.open(
            wrap.encapsulation, wrap.ciphertext, with: keys, suite: wrap.header.suite, purpose: .of(wrap.header),
            associated: wrap.header.encoded)
        guard let (secret, checkpoint) = opened else { throw .notOpened }
        let key = NoteKey(note: wrap.header.note, epoch: wrap.header.epoch, secret: secret)
        guard key.commitment == moment.keyCommitment else { throw .anotherCommitment }
        return (key, checkpoint)
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
        header.carriesCheckpoint ? .noteAndCheckpoint : .note
    }
}
