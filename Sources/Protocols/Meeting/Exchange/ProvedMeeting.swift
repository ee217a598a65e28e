// SPDX-License-Identifier: Apache-2.0

/// Two devices that know each other's identity keys. Whether the people who hold the devices stand before each other, the people say:
/// each types the words on the other's screen.
public struct ProvedMeeting: ~Copyable, Sendable {
    /// On which side this device is.
    public let role: MeetingRole
    /// Who the other device proved to be.
    public let peer: MeetingPerson
    /// The words that this device's screen shows, for the other person to type.
    public let shownWords: MeetingWords
    /// The message in which the host introduces themselves, to be sent now; nil on the guest's side.
    public let answer: [UInt8]?
    private let theirWords: MeetingWords
    private let own: MeetingPerson
    private let day: UInt64
    private let hostDay: UInt64
    private let keys: MeetingKeys

    init(
        as role: MeetingRole, _ keys: MeetingKeys, own: MeetingPerson, day: UInt64, peer: MeetingPerson,
        hostDay: UInt64,
        answer: [UInt8]?
    ) {
        (self.role, self.keys, self.own, self.day) = (role, keys, own, day)
        (self.peer, self.hostDay, self.answer) = (peer, hostDay, answer)
        shownWords = MeetingWords(keys.bytes(8, .words, of: role))
        theirWords = MeetingWords(keys.bytes(8, .words, of: role.peer))
    }

    /// Compares what the user typed with the words that the other screen must show. There is one try.
    ///
    /// - Parameters:
    ///   - text: three words and two digits; see ``MeetingWords/isWhole(typed:)``.
    ///   - wantsReceipt: whether the user wants a receipt that both sign and anyone may be shown (``MeetingReceipt``).
    ///   - refuse: gets the message to the other side if the words are other ones.
    /// - Throws: ``MeetingError/otherWords``.
    public consuming func compare(
        typed text: [UInt8], wantsReceipt: Bool = false, orElse refuse: (_ message: [UInt8]) -> Void = { _ in }
    ) throws(MeetingError) -> ConfirmedMeeting {
        guard theirWords.matches(typed: text) else {
            if let message = decline() { refuse(message) }
            throw .otherWords
        }
        let verdict: MeetingVerdict = wantsReceipt ? .sameWithReceipt : .same
        return ConfirmedMeeting(
            as: role, keys, own: own, peer: peer, day: day, hostDay: hostDay, wantsReceipt: wantsReceipt,
            message: try keys.seal([verdict.rawValue], .verdict, by: role))
    }

    /// Tells the other side that this user does not confirm.
    ///
    /// - Returns: the message to the other side; nil if it cannot be made, which is as good as silence.
    public consuming func decline() -> [UInt8]? {
        try? keys.seal([MeetingVerdict.declined.rawValue], .verdict, by: role)
    }
}

/// What a user said about the words.
enum MeetingVerdict: UInt8 {
    case declined = 0
    case same = 1
    /// The same, and a receipt is wanted.
    case sameWithReceipt = 2
}

/// A meeting that this user has confirmed. It counts when the other one has, too.
public struct ConfirmedMeeting: ~Copyable, Sendable {
    /// The message to the other side.
    public let message: [UInt8]
    private let role: MeetingRole
    private let keys: MeetingKeys
    private let own: MeetingPerson
    private let peer: MeetingPerson
    private let day: UInt64
    private let hostDay: UInt64
    private let wantsReceipt: Bool

    init(
        as role: MeetingRole, _ keys: MeetingKeys, own: MeetingPerson, peer: MeetingPerson, day: UInt64,
        hostDay: UInt64, wantsReceipt: Bool, message: [UInt8]
    ) {
        (self.role, self.keys, self.own, self.peer) = (role, keys, own, peer)
        (self.day, self.hostDay, self.wantsReceipt, self.message) = (day, hostDay, wantsReceipt, message)
    }

    /// Takes the other user's verdict.
    ///
    /// - Parameter checkpoint: the largest checkpoint of the log that this device had verified; nil before the first.
    /// - Throws: ``MeetingError``: `notOpened`, `malformed`, `declined`.
    public consuming func receive(
        _ message: [UInt8], knowing checkpoint: MeetingRecord.KnownTree?
    ) throws(MeetingError) -> ConcludedMeeting {
        let plaintext = try keys.open(message, .verdict, from: role.peer)
        guard plaintext.count == 1, let verdict = MeetingVerdict(rawValue: plaintext[0]) else { throw .malformed }
        guard verdict != .declined else { throw .declined }
        let record = MeetingRecord(
            role: role, day: day, own: own, peerHandle: peer.handle, peerKey: peer.identityKey, checkpoint: checkpoint)
        let isReceiptWanted = wantsReceipt && verdict == .sameWithReceipt
        let draft = MeetingReceipt.Draft(
            number: keys.bytes(16, .number, of: .host), day: hostDay, own, peer)
        return ConcludedMeeting(record: record, role: role, keys: keys, draft: isReceiptWanted ? draft : nil)
    }
}

/// A meeting that both users have confirmed.
public struct ConcludedMeeting: ~Copyable, Sendable {
    /// What this device keeps of it.
    public let record: MeetingRecord
    /// Whether both wanted a receipt.
    public var isReceiptWanted: Bool { draft != nil }
    let role: MeetingRole
    let keys: MeetingKeys
    let draft: MeetingReceipt.Draft?
    private var hasChannel = true

    init(record: MeetingRecord, role: MeetingRole, keys: MeetingKeys, draft: MeetingReceipt.Draft?) {
        (self.record, self.role, self.keys, self.draft) = (record, role, keys, draft)
    }

    /// For what the two people give each other. There is one, because its keys begin with the first frame.
    public mutating func takeChannel() -> MeetingChannel? {
        guard hasChannel else { return nil }
        hasChannel = false
        return MeetingChannel(keys, as: role)
    }

    /// Signs the receipt that both wanted.
    ///
    /// - Returns: the message to the other side, and the signature, 64 bytes; nil if a receipt is not wanted by both.
    /// - Throws: ``MeetingError/signingFailed``.
    public func sign(
        with sign: ([UInt8]) throws -> [UInt8]
    ) throws(MeetingError) -> (message: [UInt8], signature: [UInt8])? {
        guard let draft else { return nil }
        let signature = try IdentitySignature.make(over: draft.statement, by: draft.own.identityKey, with: sign)
        return (try keys.seal(signature, .receipt, by: role), signature)
    }

    /// Takes the other side's signature of the receipt.
    ///
    /// - Parameter signature: this side's, of ``sign(with:)``.
    /// - Returns: nil if a receipt is not wanted by both.
    /// - Throws: ``MeetingError``: `notOpened`, `invalidSignature`. The record stands all the same.
    public consuming func receive(
        _ message: [UInt8], signed signature: [UInt8]
    ) throws(MeetingError) -> MeetingReceipt? {
        guard let draft else { return nil }
        let theirs = try keys.open(message, .receipt, from: role.peer)
        return try draft.signed(own: signature, peer: theirs)
    }
}
