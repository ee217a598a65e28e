// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Credentials
import KeyTransparency
import Meeting
import Platform
import QRCode
import SelectiveDisclosure
import Signet

/// `signet meet`
struct Meet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "meet", abstract: "Meet someone in person: your two devices prove to each other whose they are.",
        discussion: """
            No directory is needed, only a network that both devices are in. One person runs 'signet meet' and shows the code; the other \
            one reads it, or copies the link. Each screen then shows words: each of you types the words that are on the other's screen. \
            Stand before each other: a video call does not show that the person is there.

            Examples:
              signet meet
              signet meet signet-meet:LINK
              signet meet --card my.card --contacts
            """)

    @Argument(help: "The link of the person who shows the code; without it, you show yours.") var link: String?
    @Option(help: ArgumentHelp("A picture (PNG) of their code, in place of the link.", valueName: "file")) var scan:
        String?
    @Option(
        help: ArgumentHelp(
            "Wait at this IP address of this machine; may be given twice. By default at those that it has.",
            valueName: "address"))
    var address: [String] = []
    @Option(help: "Wait at this port; by default at any that is free.") var port: UInt16 = 0
    @Flag(help: "Put no address into the code: their device asks the network for yours.") var withoutAddress = false
    @Option(help: ArgumentHelp("Write your code as a picture (PNG) too.", valueName: "file")) var picture: String?
    @Option(
        help: ArgumentHelp(
            "Write a receipt into this file, if both of you ask for one. Both sign it, and it can be shown to others.",
            valueName: "file"))
    var receipt: String?
    @Option(
        help: ArgumentHelp("Give them this business card of yours, once both of you have confirmed.", valueName: "file")
    )
    var card: String?
    @Option(
        help: ArgumentHelp("With --card, a line of it to give; may be given more than once.", valueName: "line"),
        transform: BusinessCard.Field.typed)
    var only: [BusinessCard.Field] = []
    @Flag(help: "Find out whom both of you have met, if the other person asks for it too.") var contacts = false
    @Option(
        help: ArgumentHelp(
            "With --contacts, a person who is not to be found out; may be given more than once.", valueName: "handle"))
    var hide: [String] = []
    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard link == nil || scan == nil else { throw ValidationError("Give a link or --scan, not both.") }
        guard !isGuest || (address.isEmpty && port == 0 && picture == nil && !withoutAddress) else {
            throw ValidationError(
                "--address, --port, --without-address and --picture are for the one who shows the code.")
        }
        guard address.count <= MeetingInvitation.maximumAddressCount else {
            throw ValidationError("An invitation has room for two addresses.")
        }
        guard only.isEmpty || card != nil else { throw ValidationError("--only is for lines of --card.") }
        guard hide.isEmpty || contacts else { throw ValidationError("--hide is for --contacts.") }
    }

    private var isGuest: Bool { link != nil || scan != nil }

    func run() async throws {
        let invitation = try invitationRead()
        let addresses = try address.map(Self.address)
        let session = try Session(home)
        let offer = try offer(session)
        let secrets = try session.secrets()
        let today = Moment.dayNumber(of: Surroundings.system.now())
        let kept = try await session.with(secrets) { account in
            let meeting: UnconfirmedMeeting
            if let invitation {
                meeting = try await account.join(invitation, on: today)
            } else {
                meeting = try await show(
                    try await account.invite(at: addresses, port: port, showsAddresses: !withoutAddress, on: today),
                    session)
            }
            return try await confirm(meeting, giving: offer)
        }
        try keep(kept.receipt, session)
        output.emit(kept.json(receipt), kept.page(receipt))
    }

    private func offer(_ session: Session) throws -> MeetingOffer {
        let hidden = try Set(hide.map(Handle.typed))
        guard let card else { return MeetingOffer(comparesContacts: contacts, hidden: hidden) }
        let (keystore, _) = try session.cardOwner()
        let held = try CardFile(card, of: keystore).card
        let lines = BusinessCard.fields(of: held).map(\.field).filter { only.isEmpty || only.contains($0) }
        guard only.allSatisfy(lines.contains) else {
            throw CommandFailure(
                .usage, "The card has no such line.",
                "'signet card show \(PrintedValue.printable(card))' lists its lines.")
        }
        return MeetingOffer(card: held, showing: Set(lines), comparesContacts: contacts, hidden: hidden)
    }

    private func invitationRead() throws -> MeetingInvitation? {
        let bytes: [UInt8]
        switch (link, scan) {
        case (let link?, _): bytes = Array(link.utf8)
        case (nil, let scan?): bytes = try ScannedPicture.read(scan).filter { $0 != UInt8(ascii: "\n") }
        case (nil, nil): return nil
        }
        do { return try MeetingInvitation(link: bytes) } catch {
            throw CommandFailure(MeetingRefusal.check(error))
        }
    }

    static func address(_ text: String) throws -> MeetingAddress {
        guard let address = MeetingAddress(text: text) else {
            throw CommandFailure(
                .usage, "'\(PrintedValue.printable(text))' is not an IP address.",
                "Give one of this machine, such as 192.0.2.1.")
        }
        return address
    }

    /// Shows the code, and waits for the other device.
    private func show(_ open: OpenInvitation, _ session: Session) async throws -> UnconfirmedMeeting {
        if let picture { try QRSymbol.write(open.invitation.link, as: picture, outside: session.home) }
        let end = open.invitation.end
        if output.json {
            Output.json(["end": .number(end), "link": .string(open.link)])
        } else {
            Output.line(QRSymbol(open.invitation.link)?.shownText ?? "")
            Output.exact("  signet meet \(open.link)")
            Output.line(
                "  Show the code to the person before you. It is good until \(Moment.date(end)), for one person.")
        }
        return try await waitForGuest(open)
    }

    /// If the user leaves, the network is told that nobody waits any more.
    private func waitForGuest(_ open: OpenInvitation) async throws -> UnconfirmedMeeting {
        let interrupts = Interrupts([SIGINT, SIGTERM, SIGHUP])
        let watch = Task {
            await interrupts.wait()
            guard !Task.isCancelled else { return false }
            await open.close()
            return true
        }
        do {
            let meeting = try await open.wait()
            watch.cancel()
            interrupts.release()
            return meeting
        } catch {
            watch.cancel()
            if await watch.value {
                throw CommandFailure(.interrupted, "The code was taken back. Nothing was recorded.", "")
            }
            throw error
        }
    }

    /// Shows the words, and waits for those on the other screen. Text that cannot be such words is asked for again.
    private func confirm(_ meeting: UnconfirmedMeeting, giving offer: MeetingOffer) async throws -> KeptInPerson {
        let peer = meeting.peer.handle
        if output.json {
            Output.json(["handle": .string(peer.description), "words": .string(meeting.words)])
        } else {
            Output.line(
                """
                  The other device belongs to \(Paint.output.strong(peer.description)).
                  Your words:  \(Paint.output.strong(meeting.words))
                """)
        }
        Output.error("Type the words on the screen of \(peer), and let them type yours:")
        for await line in TypedLines.standard.lines() {
            do throws(SignetError) {
                return try await meeting.confirm(typed: line, wantsReceipt: receipt != nil, giving: offer)
            } catch .meeting(.incompleteWords) {
                Output.error(MeetingRefusal.incompleteWords.sentence.what + " Type them again:")
            } catch { throw error }
        }
        await meeting.decline()
        throw CommandFailure(
            .needsDecision, "You typed no words, so nothing was compared and nothing was recorded.",
            "Meet again when you can see the other screen.")
    }

    private func keep(_ receipt: MeetingReceipt?, _ session: Session) throws {
        guard let receipt, let path = self.receipt else { return }
        try OutputFile.write(receipt.encoded, to: path, outside: session.home)
    }
}

extension KeptInPerson {
    fileprivate func json(_ path: String?) -> PrintedValue {
        [
            "compared": true, "comparedBy": "meeting", "handle": .string(record.peerHandle.description),
            "isOfDirectory": .bool(isOfDirectory), "metOn": .string(Moment.day(record.day)),
            "receipt": receipt == nil ? .null : path.map { .string($0) } ?? .null,
            "card": exchange.card.map { CardPage.json($0.map { ($0.field, $0.text) }) } ?? .null,
            "bothKnow": exchange.contacts.json, "fault": exchange.fault.map { .string($0.sentence.what) } ?? .null,
        ]
    }

    fileprivate func page(_ path: String?) -> String {
        let handle = record.peerHandle
        var lines = ["\(Paint.output.good("✓")) You met \(Paint.output.strong(handle.description)) in person."]
        lines.append(
            isOfDirectory
                ? "  It is the identity that the directory proved to this device."
                : "  The directory was not asked. When you are online, 'signet people add \(handle)' compares: another identity there "
                    + "is an alarm.")
        if receipt != nil, let path {
            lines.append("  The receipt that you both signed is in \(path); it can be shown to others.")
        }
        if let words = missingReceipt(isWanted: path != nil) { lines.append("  \(words)") }
        if let card = exchange.card {
            lines.append("  Their card, which this identity has signed:")
            lines += CardPage.lines(card.map { ($0.field, $0.text) })
        }
        if let words = exchange.contacts.words(handle) { lines.append("  \(words)") }
        if let fault = exchange.fault {
            lines.append("\(Paint.output.warning("!")) \(fault.sentence.what) \(fault.sentence.remedy)")
        }
        return lines.joined(separator: "\n")
    }
}

extension CommonContacts {
    fileprivate var json: PrintedValue {
        if case .people(let people) = self { .array(people.map { .string($0.description) }) } else { .null }
    }

    fileprivate func words(_ peer: Handle) -> String? {
        switch self {
        case .notAsked: nil
        case .theyDidNotAsk: "Contacts were not compared: \(peer) did not ask for it (--contacts)."
        case .people(let people) where people.isEmpty: "You know nobody in common, as far as your meetings tell."
        case .people(let people): "You both know \(people.map(\.description).joined(separator: ", "))."
        }
    }
}
