// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import KeyTransparency
import NoteLog
import SealedNotes
import Testing

@testable import SealedMessages

/// Messages between verified devices, and what the carrier, a reader or a sender might make of them.
struct SealedMessageTests {
    let alice, bob, carol: Person
    static let context = Array("com.example.chat".utf8)
    static let time: UInt64 = 1_800_000_000_123

    init() throws {
        alice = try Person("alice", deviceCount: 2)
        bob = try Person("bob", deviceCount: 2)
        carol = try Person("carol")
    }

    private func recipients(_ people: [Person]) throws -> [WrapRecipient] {
        try people.flatMap { WrapRecipient.devices(of: try $0.lookup()) }
    }

    private func seal(
        _ body: String = "hello", to people: [Person]? = nil, from sender: Person? = nil,
        context: [UInt8] = SealedMessageTests.context
    ) throws -> SealedMessage {
        let sender = sender ?? alice
        return try SealedMessage.seal(
            Array(body.utf8), context: context, to: recipients(people ?? [bob]), from: sender.author(), at: Self.time,
            with: sender.sign())
    }

    private func open(
        _ message: SealedMessage, by person: Person? = nil, device: Int = 0, from sender: Person? = nil
    ) throws -> OpenedMessage {
        try message.open(with: (person ?? bob).agreementKeys(device), context: Self.context)
            .verified(by: (sender ?? alice).keys())
    }

    /// A message whose content a sender made by hand: what the honest sealing cannot make.
    private func forge(
        _ plain: (_ header: [UInt8]) throws -> [UInt8], to people: [Person],
        commitment: (SymmetricKey, MessageID) -> [UInt8] = SealedMessage.commitment
    ) throws -> SealedMessage {
        let key = SymmetricKey(size: .bits256)
        let id = MessageID([UInt8](repeating: 7, count: 16))
        let commitment = commitment(key, id)
        let header = SealedMessage(id: id, commitment: commitment, wraps: [], sealed: []).header
        let wraps = try recipients(people).map { recipient in
            let sealed = try WrapCipher.seal(
                key, to: recipient, suite: .xWing, purpose: .message, associated: header)
            return SealedMessage.Wrap(
                hint: SealedMessage.hint(of: recipient.keysHash, in: id), encapsulation: sealed.encapsulation,
                ciphertext: sealed.ciphertext)
        }
        return SealedMessage(
            id: id, commitment: commitment, wraps: wraps,
            sealed: try SealedMessage.encrypt(try plain(header), key, header))
    }

    private func content(
        to people: [Person], from sender: Author? = nil, context: [UInt8] = SealedMessageTests.context
    ) throws -> MessageContent {
        try MessageContent(
            context: context, sender: sender ?? alice.author(), time: Self.time,
            recipients: try recipients(people).map(MessageContent.Address.init), body: Array("hello".utf8))
    }

    // MARK: Honest use

    @Test func everyDeviceOfEveryRecipientOpensAMessageAndKnowsItsSender() throws {
        let people = [alice, bob, carol]
        let message = try SealedMessage(decoding: seal(to: people).encoded)
        for person in people {
            for device in person.devices.indices {
                let opened = try open(message, by: person, device: device)
                #expect(opened.id == message.id)
                #expect(opened.content.sender == alice.author() && opened.content.time == Self.time)
                #expect(opened.content.body == Array("hello".utf8) && opened.content.context == Self.context)
                #expect(Set(opened.content.recipients.map(\.author.handle)) == Set(people.map(\.handle)))
            }
        }
    }

    @Test func aServerMayHandEachDeviceItsOwnWrapOnly() throws {
        let message = try seal(to: [bob, carol])
        let hash = try carol.agreementKeys(0).publicHash
        let part = try #require(message.only(for: [hash]))
        #expect(part.wraps.count == 1 && part.encoded.count < message.encoded.count)
        #expect(try open(part, by: carol) == open(message, by: carol))
        #expect(throws: SealedMessageError.notForThisDevice) { try open(part) }
        #expect(message.only(for: [try alice.agreementKeys(0).publicHash]) == nil)
    }

    @Test(arguments: [0, 1, 255, 256, 4096, 100_000]) func bodiesOfAllLengthsComeBack(count: Int) throws {
        let body = [UInt8](repeating: 0x80, count: count)
        let message = try SealedMessage.seal(
            body, context: Self.context, to: recipients([carol]), from: alice.author(), at: 0, with: alice.sign())
        #expect(try open(message, by: carol).content.body == body)
    }

    @Test func lengthsShowInStepsAndNothingElseRepeats() throws {
        let (short, long) = (try seal("yes"), try seal("no, never"))
        #expect(short.encoded.count == long.encoded.count, "an answer's length is no answer")
        #expect(short.id != long.id && short.commitment != long.commitment)
        #expect(
            Set(short.wraps.map(\.hint)).isDisjoint(with: long.wraps.map(\.hint)),
            "one device's messages are not linked")
    }

    // MARK: The carrier

    @Test func noBitOfAMessageCanBeChanged() throws {
        let message = try seal(to: [carol])
        let encoded = message.encoded
        let isSealed = encoded.count - message.sealed.count
        // Every byte outside the encapsulation, whose bits are HPKE's to refuse; of it, one in sixteen.
        for index in encoded.indices where index < 74 || index % 16 == 0 || index >= isSealed {
            var changed = encoded
            changed[index] ^= 1 << UInt8(index % 8)
            #expect(throws: SealedMessageError.self, "byte \(index)") {
                try open(SealedMessage(decoding: changed), by: carol)
            }
        }
        for count in encoded.indices {
            #expect(throws: SealedMessageError.self) { try SealedMessage(decoding: Array(encoded.prefix(count))) }
        }
        #expect(throws: SealedMessageError.malformed(.trailingBytes(1))) { try SealedMessage(decoding: encoded + [0]) }
    }

    @Test func unwrap_refusesAMessageForOthers() throws {
        #expect(throws: SealedMessageError.notForThisDevice) { try open(seal(to: [bob]), by: carol) }
    }

    @Test func unwrap_refusesAMessageToKeysThatTheDeviceHasNoMore() throws {
        let message = try seal(to: [carol])
        let after = try carol.replacingDevice()
        #expect(throws: SealedMessageError.notForThisDevice) { try open(message, by: after) }
    }

    @Test func decrypt_refusesTheContentOfAnotherMessage() throws {
        let (first, second) = (try seal("first"), try seal("other"))
        let mixed = SealedMessage(
            id: first.id, commitment: first.commitment, wraps: first.wraps, sealed: second.sealed)
        #expect(throws: SealedMessageError.notOpened) { try open(mixed) }
    }

    @Test func unwrap_refusesAWrapUnderAnotherHeader() throws {
        let (first, second) = (try seal("first", to: [carol]), try seal("other", to: [carol]))
        let wrap = SealedMessage.Wrap(
            hint: first.wraps[0].hint, encapsulation: second.wraps[0].encapsulation,
            ciphertext: second.wraps[0].ciphertext)
        let mixed = SealedMessage(id: first.id, commitment: first.commitment, wraps: [wrap], sealed: first.sealed)
        #expect(throws: SealedMessageError.notOpened) { try open(mixed, by: carol) }
    }

    @Test func aMessageForTooManyDevicesOrNoneIsNotRead() throws {
        let message = try seal(to: [carol])
        for count in [0, SealedMessage.maximumRecipientCount + 1] {
            let other = SealedMessage(
                id: message.id, commitment: message.commitment,
                wraps: Array(repeating: message.wraps[0], count: count), sealed: message.sealed)
            #expect(throws: SealedMessageError.invalidField) { try SealedMessage(decoding: other.encoded) }
        }
    }

    // MARK: A reader

    /// Bob opens Alice's message, and seals what is inside, signature and all, to Carol.
    @Test func checkAddress_refusesAMessageThatAReaderPassesOn() throws {
        let content = try content(to: [bob])
        let message = try forge({ try content.encoded + alice.sign()($0 + content.encoded) }, to: [bob, carol])
        #expect(throws: Never.self) { try open(message) }
        #expect(throws: SealedMessageError.notAddressed) { try open(message, by: carol) }
    }

    /// Bob knows the key of what Alice sealed to him and Carol, and puts words of his own in its place.
    @Test func checkSignature_refusesWhatAReaderPutsInTheSendersMouth() throws {
        let content = try content(to: [bob, carol])
        let message = try forge({ try content.encoded + bob.sign()($0 + content.encoded) }, to: [bob, carol])
        #expect(throws: SealedMessageError.invalidSignature) { try open(message, by: carol) }
    }

    /// Alice's signature over one message does not do for another header, such as one that names another key.
    @Test func checkSignature_refusesASignatureOverAnotherHeader() throws {
        let content = try content(to: [carol])
        let message = try forge(
            { _ in try content.encoded + alice.sign()(Array("signet-message/v1\n".utf8) + content.encoded) },
            to: [carol])
        #expect(throws: SealedMessageError.invalidSignature) { try open(message, by: carol) }
    }

    @Test func verified_refusesADeviceThatThePersonDoesNotHave() throws {
        let message = try seal()
        let after = try Person("alice")
        #expect(throws: SealedMessageError.notTheirDevice(alice.author())) { try open(message, from: after) }
    }

    @Test func verified_refusesTheDevicesOfAnotherPerson() throws {
        let content = try content(to: [carol], from: Author(handle: bob.handle, device: alice.author().device))
        let message = try forge({ try content.encoded + alice.sign()($0 + content.encoded) }, to: [carol])
        let opened = try message.open(with: carol.agreementKeys(0), context: Self.context)
        #expect(opened.claimedSender.handle == bob.handle)
        #expect(throws: SealedMessageError.notTheirDevice(content.sender)) { try opened.verified(by: bob.keys()) }
        #expect(throws: SealedMessageError.notTheirDevice(content.sender)) { try opened.verified(by: alice.keys()) }
    }

    // MARK: A sender, and another use of the same keys

    @Test func checkContext_refusesAMessageForAnotherUse() throws {
        let message = try seal(context: Array("com.example.payments".utf8))
        #expect(throws: SealedMessageError.anotherContext) { try open(message) }
    }

    /// One ciphertext that opens to two texts under two keys would be one message that says two things.
    @Test func checkCommitment_refusesAKeyThatTheSenderDidNotCommitTo() throws {
        let content = try content(to: [carol])
        let message = try forge(
            { try content.encoded + alice.sign()($0 + content.encoded) }, to: [carol],
            commitment: {
                SealedMessage.commitment(to: $0, of: MessageID([UInt8](repeating: 8, count: $1.bytes.count)))
            })
        #expect(throws: SealedMessageError.anotherKey) { try open(message, by: carol) }
    }

    @Test func decrypt_refusesContentThatIsNotOfTheForm() throws {
        let content = try content(to: [carol])
        let signed = { (header: [UInt8]) in try content.encoded + alice.sign()(header + content.encoded) }
        #expect(throws: Never.self) { try open(forge(signed, to: [carol]), by: carol) }
        for wrong in [
            { try signed($0) + [0] }, { Array(try signed($0).dropLast()) }, { _ in [] },
            { Array("signet-message-content/v2\n".utf8) + (try signed($0)).dropFirst(26) },
        ] as [([UInt8]) throws -> [UInt8]] {
            #expect(throws: SealedMessageError.malformedContent) { try open(forge(wrong, to: [carol]), by: carol) }
        }
    }

    // MARK: The caller

    @Test func seal_refusesAMessageThatNoOneCouldOpen() throws {
        for count in [0, MessageContent.maximumContextByteCount + 1] {
            #expect(throws: SealedMessageError.invalidContext) {
                try seal(context: [UInt8](repeating: 0x61, count: count))
            }
        }
        #expect(throws: SealedMessageError.invalidRecipients) { try seal(to: []) }
        #expect(throws: SealedMessageError.invalidRecipients) { try seal(to: [bob, bob]) }
        #expect(throws: SealedMessageError.tooLong(MessageContent.maximumBodyByteCount + 1)) {
            try SealedMessage.seal(
                [UInt8](repeating: 0, count: MessageContent.maximumBodyByteCount + 1), context: Self.context,
                to: recipients([bob]), from: alice.author(), at: 0, with: alice.sign())
        }
        #expect(throws: SealedMessageError.signingFailed) {
            try SealedMessage.seal(
                [], context: Self.context, to: recipients([bob]), from: alice.author(), at: 0, with: bob.sign())
        }
    }
}
