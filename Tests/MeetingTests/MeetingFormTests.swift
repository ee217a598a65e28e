// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import QRCode
import SeededRandomness
import Testing

@testable import Meeting

/// What is on the screen, what a device keeps, and what both may sign.
@Suite struct MeetingFormTests {
    private static func invitation(_ addresses: [MeetingAddress]) throws -> MeetingInvitation {
        var generator = SeededGenerator(seed: 7)
        return try require(
            MeetingInvitation(
                key: generator.bytes(32), commitment: generator.bytes(32), secret: generator.bytes(16), end: .max,
                port: .max, addresses: addresses))
    }

    private static let version6 = MeetingAddress.version6([UInt8](repeating: 0xFE, count: 16))

    @Test func anInvitationIsReadBack_asBytesAndAsALink() throws {
        for addresses in [
            [.version4([192, 0, 2, 1])], [Self.version6, .version4([127, 0, 0, 1])], [Self.version6, Self.version6],
        ] {
            let invitation = try Self.invitation(addresses)
            #expect(try MeetingInvitation(decoding: invitation.encoded) == invitation)
            #expect(try MeetingInvitation(link: invitation.link) == invitation)
        }
    }

    @Test func theLongestInvitationFitsAQRCodeOfVersion8() throws {
        let link = try Self.invitation([Self.version6, Self.version6]).link
        #expect(link.count <= MeetingInvitation.maximumLinkByteCount)
        let symbol = try require(QRSymbol(link))
        #expect(symbol.side <= 17 + 4 * 8)
    }

    @Test func anInvitationNamesNobody() throws {
        let (first, second) = (try Scene("alice"), try Scene("zoe"))
        #expect(try first.invite().invitation.encoded == second.invite().invitation.encoded)
    }

    @Test func anInvitationHasItsForm() throws {
        let good = try Self.invitation([.version4([192, 0, 2, 1])]).encoded
        func isRefused(_ bytes: [UInt8]) -> Bool {
            refusal { _ = try MeetingInvitation(decoding: bytes) } == .notAnInvitation
        }
        for end in good.indices { #expect(isRefused(Array(good[..<end])), "cut at \(end)") }
        #expect(isRefused(good + [0]))
        func with(_ position: Int, _ value: UInt8) -> [UInt8] {
            var bytes = good
            bytes[position] = value
            return bytes
        }
        #expect(isRefused(with(0, 0)) && isRefused(with(0, 2)), "version")
        var noPort = good
        (noPort[89], noPort[90]) = (0, 0)
        #expect(isRefused(noPort), "port")
        #expect(isRefused(with(91, 0)) && isRefused(with(91, 2)), "count")
        #expect(!isRefused(Array(good[..<91]) + [0]), "no address")
        let address = Array(good[92...])
        #expect(isRefused(Array(good[..<91]) + [3] + address + address + address), "three addresses")
        #expect(isRefused(with(92, 5)), "kind of address")
        let link = try Self.invitation([.version4([192, 0, 2, 1])]).link
        let otherScheme = Array("signet-move:".utf8) + link.dropFirst(12)
        for wrong in [Array("signet-meet:".utf8), otherScheme, Array("https:".utf8) + link, link + [0x0A], link + link]
        {
            #expect(refusal { _ = try MeetingInvitation(link: wrong) } == .notAnInvitation)
        }
    }

    @Test func mutatedInvitationsAreReadBackOrRefused() throws {
        var generator = SeededGenerator(seed: 17)
        let good = try Self.invitation([.version4([192, 0, 2, 1]), Self.version6]).encoded
        for _ in 0..<4000 {
            let mutant = generator.mutant(of: good)
            if let read = try? MeetingInvitation(decoding: mutant) { #expect(read.encoded == mutant) }
        }
    }

    // MARK: Records

    private static let key = SymmetricKey(data: [UInt8](repeating: 5, count: 32))
    private static let nonce = [UInt8](repeating: 6, count: 12)

    @Test func aRecordOpensOnTheDeviceThatSealedItAndForThisPersonAlone() throws {
        let scene = try Scene()
        let record = try scene.concludedHost().record
        let (bob, cleo) = (scene.guest.person.handle, try Handle(canonical: Array("cleo@example.org".utf8)))
        let sealed = try require(record.sealed(under: Self.key, nonce: Self.nonce))
        #expect(MeetingRecord(opening: sealed, with: bob, under: Self.key) == record)
        #expect(MeetingRecord(opening: sealed, with: cleo, under: Self.key) == nil)
        #expect(MeetingRecord(opening: sealed, with: bob, under: .init(data: [UInt8](repeating: 7, count: 32))) == nil)
        for position in sealed.indices {
            var other = sealed
            other[position] ^= 0x10
            #expect(MeetingRecord(opening: other, with: bob, under: Self.key) == nil, "byte \(position)")
        }
        #expect(sealed.count <= 320)
        #expect(record.sealed(under: Self.key, nonce: [1]) == nil)
    }

    /// A record that is sealed for one person and names another inside, as only the device itself could make it.
    @Test func aRecordIsOfThePersonUnderWhoseNameItIsKept() throws {
        let scene = try Scene()
        let record = try scene.concludedHost().record
        let cleo = try Handle(canonical: Array("cleo@example.org".utf8))
        let box = try ChaChaPoly.seal(
            record.encoded, using: Self.key, authenticating: Array("signet-met/v1\n".utf8) + cleo.bytes)
        #expect(MeetingRecord(opening: Array(box.combined), with: cleo, under: Self.key) == nil)
    }

    @Test func whatTheTwoKeepOfOneMeetingCannotBeJoined() throws {
        let scene = try Scene()
        let host = try require(scene.concludedHost().record.sealed(under: Self.key, nonce: Self.nonce))
        let guest = try require(
            scene.concludedGuest().record.sealed(
                under: .init(data: [UInt8](repeating: 8, count: 32)), nonce: [UInt8](repeating: 9, count: 12)))
        let runs = Set(host.indices.dropLast(7).map { Array(host[$0..<$0 + 8]) })
        #expect(guest.indices.dropLast(7).allSatisfy { !runs.contains(Array(guest[$0..<$0 + 8])) })
    }

    /// Whoever gets everything that Alice keeps learns what she says, and nothing that shows that it is true.
    @Test func anybodyCanMakeAnEqualRecordOfAnyTwoPeople() throws {
        let scene = try Scene()
        let (alice, bob) = (scene.host.person, scene.guest.person)
        let invented = MeetingRecord(
            role: .host, day: Scene.day, own: alice, peerHandle: bob.handle, peerKey: bob.identityKey, checkpoint: nil)
        #expect(try scene.concludedHost().record.encoded == invented.encoded)
    }

    @Test func aRecordIsReadBack_andMutantsNeverTrap() throws {
        let scene = try Scene()
        let tree = MeetingRecord.KnownTree(size: .max, root: [UInt8](repeating: 3, count: 32))
        let verdict = try scene.confirmedGuest().message
        let record = try scene.confirmedHost().receive(verdict, knowing: tree).record
        #expect(record.checkpoint == tree && MeetingRecord.KnownTree(size: 1, root: []) == nil)
        #expect(try MeetingRecord(decoding: record.encoded) == record)
        var generator = SeededGenerator(seed: 27)
        for _ in 0..<4000 {
            let mutant = generator.mutant(of: record.encoded)
            if let read = try? MeetingRecord(decoding: mutant) { #expect(read.encoded == mutant) }
        }
    }

    // MARK: Receipts

    private static func receipts(_ scene: Scene) throws -> (host: MeetingReceipt?, guest: MeetingReceipt?) {
        let host = try scene.concludedHost()
        let guest = try scene.concludedGuest()
        guard let ofHost = try host.sign(with: scene.host.sign), let ofGuest = try guest.sign(with: scene.guest.sign)
        else {
            return (nil, nil)
        }
        return (
            try host.receive(ofGuest.message, signed: ofHost.signature),
            try guest.receive(ofHost.message, signed: ofGuest.signature)
        )
    }

    @Test func aReceiptIsMadeIfBothWantOne_andAnyoneCanCheckIt() throws {
        var scene = try Scene()
        #expect(try Self.receipts(scene).host == nil)
        scene.wantsReceipt = true
        let (host, guest) = try Self.receipts(scene)
        let receipt = try require(host)
        #expect(receipt == guest)
        #expect(try MeetingReceipt(decoding: receipt.encoded) == receipt)
        #expect(receipt.day == Scene.day && receipt.number.count == 16)
        #expect(Set(receipt.people.map(\.handle)) == [scene.host.person.handle, scene.guest.person.handle])
        #expect(receipt.encoded.count <= MeetingReceipt.maximumByteCount)
    }

    @Test func whoWantsNoReceiptSignsNone() throws {
        var scene = try Scene()
        let plain = try scene.confirmedGuest().message
        scene.wantsReceipt = true
        #expect(try !scene.concludedHost(with: plain).isReceiptWanted)
        #expect(try scene.concludedHost(with: plain).sign(with: scene.host.sign) == nil)
        let wanting = try scene.confirmedGuest().message
        scene.wantsReceipt = false
        #expect(try !scene.concludedHost(with: wanting).isReceiptWanted)
    }

    @Test func aReceiptNeedsBothSignatures() throws {
        var scene = try Scene()
        scene.wantsReceipt = true
        let own = try require(scene.concludedHost().sign(with: scene.host.sign))
        let forged = try scene.keys().seal(own.signature, .receipt, by: .guest)
        #expect(
            refusal { _ = try scene.concludedHost().receive(forged, signed: own.signature) } == .invalidSignature)
        #expect(
            refusal { _ = try scene.concludedHost().receive(own.message, signed: own.signature) } == .notOpened,
            "sent back")
        #expect(refusal { _ = try scene.concludedHost().sign(with: scene.guest.sign) } == .signingFailed)
    }

    @Test func aChangedReceiptIsRefused() throws {
        var scene = try Scene()
        scene.wantsReceipt = true
        let receipt = try require(Self.receipts(scene).host)
        for position in receipt.encoded.indices {
            var other = receipt.encoded
            other[position] ^= 1
            #expect(refusal { _ = try MeetingReceipt(decoding: other) } != nil, "byte \(position)")
        }
        let lines = receipt.encoded.split(separator: 0x0A)
        let swapped: [UInt8] = [0, 1, 2, 5, 6, 3, 4, 8, 7].flatMap { (line: Int) -> [UInt8] in
            Array(lines[line]) + [0x0A]
        }
        #expect(refusal { _ = try MeetingReceipt(decoding: swapped) } == .malformed, "one order")
        #expect(refusal { _ = try MeetingReceipt(decoding: receipt.encoded + [0x0A]) } == .malformed)
        #expect(
            refusal { _ = try MeetingReceipt(decoding: [UInt8](repeating: 0x0A, count: 2000)) } == .malformed)
        var generator = SeededGenerator(seed: 37)
        for _ in 0..<500 {
            let mutant = generator.mutant(of: receipt.encoded)
            if let read = try? MeetingReceipt(decoding: mutant) { #expect(read.encoded == mutant) }
        }
    }
}
