// SPDX-License-Identifier: Apache-2.0

import ContactMatching
import Credentials
import Crypto
import KeyTransparency
import Meeting
import SelectiveDisclosure
import SignetClient
import StrictJSON

/// What the user and the people whom they met gave each other.
extension Account {
    /// The people whom the user met on this device, with their cards, in order of handles.
    ///
    /// - Throws: ``SignetError``.
    public func metContacts() throws(SignetError) -> [MetContact] {
        try contactBook().people.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }.map { handle, person in
            MetContact(handle: handle, day: person.day, card: person.card.map(Self.lines(ofKept:)) ?? [])
        }
    }

    /// Gives and takes, after both people have confirmed.
    func exchange(
        _ offer: MeetingOffer, over link: SealedLink, with peer: MeetingPerson, as role: MeetingRole, on day: UInt64
    ) async -> MeetingExchange {
        var exchange = MeetingExchange()
        do {
            let theirs = try await swapGifts(offer, over: link, on: day)
            try keep(theirs, of: peer, on: day, &exchange)
            exchange.contacts = offer.comparesContacts ? .theyDidNotAsk : .notAsked
            if offer.comparesContacts, theirs.comparesContacts {
                exchange.contacts = .people(try await compare(hiding: offer.hidden, over: link, as: role))
            }
        } catch { exchange.fault = MeetingRefusal(ofGift: error) }
        return exchange
    }

    private func swapGifts(_ offer: MeetingOffer, over link: SealedLink, on day: UInt64) async throws -> MeetingGift {
        var tokens: [ContactToken] = []
        try change { book in tokens = book.tokens(on: day) { .fresh() } }
        let own = MeetingGift(
            tokens: tokens.map(\.bytes), comparesContacts: offer.comparesContacts, card: try shownCard(offer))
        guard let own else { throw MeetingRefusal.cardTooLong }
        try await link.send(own.encoded)
        return try MeetingGift(decoding: try await link.receive())
    }

    /// Signed for this moment, because the other device takes no card that may be a photograph of an old one.
    private func shownCard(_ offer: MeetingOffer) throws -> [UInt8]? {
        guard let card = offer.card else { return nil }
        return try ShownCard.presented(
            card, disclosing: Set(offer.fields.map(\.claim)), at: Int64(clamping: surroundings.now())
        ) { bytes in
            guard let signature = try secrets.signAsIdentity(bytes) else { throw KeystoreError.keysDoNotFit }
            return signature
        }
    }

    /// Keeps what the other person gave. A card counts only if the identity key that they have just proved signed it.
    private func keep(
        _ gift: MeetingGift, of peer: MeetingPerson, on day: UInt64, _ exchange: inout MeetingExchange
    ) throws {
        var card: [UInt8]?
        if let text = gift.card {
            do {
                exchange.card = try verified(text, by: peer)
                card = text
            } catch { exchange.fault = error }
        }
        let tokens = gift.tokens.compactMap { ContactToken($0) }
        try change { $0.keep(ContactBook.Person(day: day, tokens: tokens, card: card), of: peer.handle) }
    }

    private func verified(_ text: [UInt8], by peer: MeetingPerson) throws(MeetingRefusal) -> [MetCardLine] {
        let shown: VerifiedPresentation?
        do {
            shown = try BusinessCard.shown(text, by: peer.identityKey, at: Int64(clamping: surroundings.now()))
        } catch { throw .card(error) }
        guard let shown else { throw .cardOfAnother }
        return Self.lines(of: shown.claims)
    }

    private static func lines(of claims: JSONObject) -> [MetCardLine] {
        BusinessCard.fields(in: claims).map { MetCardLine(field: $0.field, text: $0.text) }
    }

    /// The lines of a card that was verified when it was given.
    private static func lines(ofKept text: [UInt8]) -> [MetCardLine] {
        guard let end = text.lastIndex(of: UInt8(ascii: "~")),
            let card = try? HeldCredential(decoding: Array(text[...end]))
        else { return [] }
        return BusinessCard.fields(of: card).map { MetCardLine(field: $0.field, text: $0.text) }
    }

    // MARK: Whom do we both know?

    /// The host asks.
    private func compare(
        hiding hidden: Set<Handle>, over link: SealedLink, as role: MeetingRole
    ) async throws -> [Handle] {
        #if os(Linux)
            let owners = try contactBook().owners(except: hidden)
            var generator = SystemRandomNumberGenerator()
            let matches: Set<ContactToken>
            switch role {
            case .host:
                let asker = try MatchingAsker(owners.keys, using: &generator)
                try await link.send(asker.message)
                let proof = try asker.receive(try await link.receive(), using: &generator)
                try await link.send(proof.message)
                let result = try proof.receive(try await link.receive())
                try await link.send(result.message)
                matches = result.matches
            case .guest:
                let answerer = try MatchingAnswerer(owners.keys, to: try await link.receive(), using: &generator)
                try await link.send(answerer.message)
                let proof = try answerer.receive(try await link.receive(), using: &generator)
                try await link.send(proof.message)
                matches = try proof.receive(try await link.receive())
            }
            return Set(matches.compactMap { owners[$0] }).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        #else
            throw MatchingError.unavailable
        #endif
    }

    // MARK: The book

    private func contactKey() throws(SignetError) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: try meetingKey(), info: Array("signet-met-contacts/v1".utf8), outputByteCount: 32)
    }

    private func contactBook() throws(SignetError) -> ContactBook {
        let file = home.folder.metContacts
        guard file.exists else { return ContactBook() }
        let sealed: [UInt8]
        do { sealed = try file.read(maximumByteCount: 16_777_216) } catch { throw .file(error, path: file.path) }
        guard let book = ContactBook(opening: sealed, with: try contactKey()) else {
            throw .meeting(.contactsDamaged)
        }
        return book
    }

    private func change(_ body: (inout ContactBook) -> Void) throws(SignetError) {
        let file = home.folder.metContacts
        let lock: FileLock?
        do { lock = try FileLock(file.path + ".lock") } catch { throw .file(error, path: file.path) }
        guard let lock else { throw .isBusy(folder: home.folder.path) }
        defer { withExtendedLifetime(lock) {} }
        let before = try contactBook()
        var book = before
        body(&book)
        guard book != before else { return }
        guard let sealed = book.sealed(under: try contactKey(), nonce: surroundings.randomBytes(12)) else {
            throw .client(.keystore(.keysDoNotFit))
        }
        do { try file.replace(with: sealed) } catch { throw .file(error, path: file.path) }
    }
}

extension HomeFolder {
    /// Tokens and cards of the people whom the user met, sealed under a key of this device.
    public var metContacts: DurableFile { DurableFile(path: path + "/met-contacts") }
}
