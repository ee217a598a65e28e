// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
public import Meeting
import MeetingClient
import SignetClient

/// Two devices that have proved whose they are. It counts when each person has typed the words on the other's screen.
public actor UnconfirmedMeeting {
    /// How long the other person may take to type, in seconds.
    static let patience: Int64 = 300

    /// Who the other device proved to be.
    public nonisolated let peer: MeetingPerson
    /// The words for this screen, which the other person types: three words and two digits.
    public nonisolated let words: String
    private var proved: ProvedMeeting?
    private let link: MeetingLink
    private let side: MeetingSide

    init(_ proved: consuming ProvedMeeting, _ link: MeetingLink, _ side: MeetingSide) {
        peer = proved.peer
        words = String(decoding: proved.shownWords.text, as: UTF8.self)
        self.proved = consume proved
        (self.link, self.side) = (link, side)
        link.expectGifts()
    }

    /// Compares what the user typed with the words on the other screen, waits for the other person to do the same, and keeps the meeting.
    ///
    /// - Parameters:
    ///   - typed: the words on the other's screen. There is one try; text that cannot be such words does not count.
    ///   - wantsReceipt: whether the user wants a receipt, which exists only if both do.
    ///   - offer: what the user gives and asks once both have confirmed.
    /// - Throws: ``SignetError``: `.meeting`. Nothing was kept then.
    public func confirm(
        typed: String, wantsReceipt: Bool = false, giving offer: MeetingOffer = MeetingOffer()
    ) async throws(SignetError) -> KeptInPerson {
        let typed = Array(typed.utf8)
        guard MeetingWords.isWhole(typed: typed) else { throw .meeting(.incompleteWords) }
        guard let proved = proved.take() else { throw .meeting(.over) }
        let tree = try await side.account.treeForMeeting()
        var concluded = try await conclude(proved, typed, wantsReceipt, tree)
        let (record, isReceiptWanted) = (concluded.record, concluded.isReceiptWanted)
        try await side.account.keep(record, under: side.key)
        let isPinned = try await side.account.isPinned(record.peerHandle)
        let channel = concluded.takeChannel()
        // Without its receipt the meeting stands all the same, and the caller learns that there is none.
        let receipt = try? await exchangeReceipt(concluded)
        let exchange = await exchange(offer, channel, record)
        await link.close()
        return KeptInPerson(
            record: record, isOfDirectory: isPinned, receipt: receipt ?? nil,
            isReceiptMissing: isReceiptWanted && receipt == nil, exchange: exchange)
    }

    private func exchange(
        _ offer: MeetingOffer, _ channel: consuming MeetingChannel?, _ record: MeetingRecord
    ) async -> MeetingExchange {
        guard let channel = channel.take() else { return MeetingExchange(fault: .over) }
        return await side.account.exchange(
            offer, over: SealedLink(link, channel), with: peer, as: record.role, on: record.day)
    }

    private func conclude(
        _ proved: consuming ProvedMeeting, _ typed: [UInt8], _ wantsReceipt: Bool, _ tree: MeetingRecord.KnownTree?
    ) async throws(SignetError) -> ConcludedMeeting {
        var refusal: [UInt8]?
        do {
            let confirmed = try proved.compare(typed: typed, wantsReceipt: wantsReceipt) { refusal = $0 }
            let loss = await link.loss(of: confirmed.message)
            // The other person may have declined and gone meanwhile, and then that is what happened.
            let verdict = try await link.receive(within: Self.patience)
            let concluded = try confirmed.receive(verdict, knowing: tree)
            if let loss { throw loss }
            return concluded
        } catch {
            if let refusal { try? await link.send(refusal) }
            await link.close()
            throw MeetingRefusal.error(error)
        }
    }

    private func exchangeReceipt(_ concluded: consuming ConcludedMeeting) async throws -> MeetingReceipt? {
        guard let (message, signature) = try concluded.sign(with: side.sign) else { return nil }
        try await link.send(message)
        return try concluded.receive(try await link.receive(), signed: signature)
    }

    /// Says no: something is wrong, or the user does not want to. The other device is told.
    public func decline() async {
        if let proved = proved.take(), let message = proved.decline() { try? await link.send(message) }
        await link.close()
    }
}

/// A meeting that both people confirmed, and that this device keeps.
public struct KeptInPerson: Hashable, Sendable {
    /// What this device keeps.
    public let record: MeetingRecord
    /// Whether the directory has proved this very identity key to this device before. Otherwise the first lookup compares.
    public let isOfDirectory: Bool
    /// The receipt; nil if not both wanted one.
    public let receipt: MeetingReceipt?
    /// Whether both wanted a receipt and the other's signature did not arrive.
    public let isReceiptMissing: Bool
    /// What the two people gave each other.
    public let exchange: MeetingExchange
}
