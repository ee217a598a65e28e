// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import Testing

@testable import Meeting

/// Two honest devices, and each check of the exchange with nothing else wrong.
@Suite struct MeetingExchangeTests {
    @Test func twoPeopleMeetAndEachKeepsWhomTheyMet() throws {
        let scene = try Scene()
        let (host, guest) = (try scene.concludedHost().record, try scene.concludedGuest().record)
        #expect(host.role == .host && guest.role == .guest)
        #expect(host.own == scene.host.person && guest.own == scene.guest.person)
        #expect(host.peerHandle == scene.guest.person.handle && host.peerKey == scene.guest.person.identityKey)
        #expect(guest.peerHandle == scene.host.person.handle && guest.peerKey == scene.host.person.identityKey)
        #expect(host.day == Scene.day && guest.day == Scene.day)
        let shown = (try scene.provedHost().shownWords, try scene.provedGuest().shownWords)
        #expect(shown.0 != shown.1, "nobody can confirm without a look at the other screen")
    }

    @Test func aChangedByteAtEachPositionIsRefused() async throws {
        let scene = try Scene()
        let invitation = try scene.invite().invitation
        func changed(_ message: [UInt8], _ expected: MeetingError, _ step: ([UInt8]) throws -> Void) async {
            for position in message.indices {
                var other = message
                other[position] ^= 1 << UInt8(position & 7)
                #expect(refusal { try step(other) } == expected, "byte \(position)")
                if position.isMultiple(of: 64) { await Task.yield() }
            }
            #expect(refusal { try step(message) } == nil)
        }
        await changed(try scene.scan(invitation).hello, .notInvited) {
            _ = try scene.invite().receive($0, at: Scene.now)
        }
        await changed(try scene.agreedHost().opening, .otherOpening) { _ = try scene.scan(invitation).receive($0) }
        await changed(try scene.introducedGuest().message, .notOpened) { _ = try scene.provedHost(by: $0) }
        await changed(try require(scene.provedHost().answer), .notOpened) { _ = try scene.provedGuest(by: $0) }
        await changed(try scene.confirmedGuest().message, .notOpened) { _ = try scene.concludedHost(with: $0) }
        await changed(try scene.confirmedHost().message, .notOpened) { _ = try scene.concludedGuest(with: $0) }
    }

    @Test func anOldInvitationIsRefused() throws {
        let scene = try Scene()
        let invitation = try scene.invite().invitation
        let (end, skew) = (invitation.end, MeetingGuest.clockSkew)
        let hello = try scene.scan(invitation).hello
        #expect(refusal { _ = try scene.invite().receive(hello, at: end) } == nil)
        #expect(refusal { _ = try scene.invite().receive(hello, at: end + 1) } == .expired(end))
        #expect(refusal { _ = try scene.scan(invitation, at: end + skew) } == nil)
        #expect(refusal { _ = try scene.scan(invitation, at: end + skew + 1) } == .expired(end))
    }

    @Test func anInvitationIsGoodForTenMinutesAtMost() throws {
        func end(_ port: UInt16, _ addresses: [MeetingAddress], _ count: Int) -> UInt64? {
            let host = MeetingHost(
                at: addresses, port: port, key: .init(), randomness: [UInt8](repeating: 1, count: count), now: 5,
                seconds: .max)
            guard let host else { return nil }
            return host.invitation.end
        }
        let address = MeetingAddress.version4([192, 0, 2, 1])
        #expect(end(1, [address], 48) == 605)
        #expect(end(0, [address], 48) == nil && end(1, [address, address, address], 48) == nil)
        #expect(end(1, [address], 47) == nil)
    }

    @Test func whoHasNotSeenTheInvitationIsNotLetIn() throws {
        let (scene, other) = (try Scene(), try Scene(seed: 2))
        let (invitation, stranger) = (try scene.invite().invitation, try other.scan(other.invite().invitation).hello)
        let hello = try scene.scan(invitation).hello
        #expect(!invitation.isAnswered(by: stranger) && invitation.isAnswered(by: hello))
        #expect(refusal { _ = try scene.invite().receive(stranger, at: Scene.now) } == .notInvited)
        for length in [0, 95, 97] {
            #expect(!invitation.isAnswered(by: [UInt8](repeating: 0, count: length)))
        }
    }

    @Test func anotherDeviceCannotAnswerForTheHost() throws {
        let (scene, other) = (try Scene(), try Scene(seed: 2))
        let invitation = try scene.invite().invitation
        let opening = try other.agreedHost().opening
        #expect(refusal { _ = try scene.scan(invitation).receive(opening) } == .otherOpening)
    }

    @Test func keysThatGiveEverybodyTheSameSecretAreRefused() throws {
        let scene = try Scene()
        let zero = [UInt8](repeating: 0, count: 32)
        let invitation = try scene.invite().invitation
        let hello = MeetingHello(to: invitation, key: zero, number: zero)
        #expect(refusal { _ = try scene.invite().receive(hello.encoded, at: Scene.now) } == .weakKey)
        let weak = try require(
            MeetingInvitation(
                key: zero, commitment: MeetingHost.commitment(to: zero), secret: [UInt8](repeating: 0, count: 16),
                end: .max, port: 1, addresses: [.version4([192, 0, 2, 1])]))
        #expect(refusal { _ = try scene.scan(weak).receive(zero) } == .weakKey)
    }

    @Test func aPersonOfAnotherDirectoryIsRefused() throws {
        var scene = try Scene()
        scene.guest = try Somebody("bob", seed: 12, origin: "example.net/signet")
        #expect(refusal { _ = try scene.provedHost() } == .otherDirectory)
    }

    @Test func oneselfIsRefused_byName() throws {
        var scene = try Scene("alice", "alice")
        #expect(refusal { _ = try scene.provedHost() } == .yourself)
        scene.guest = try Somebody("carol", seed: 12)
        #expect(refusal { _ = try scene.provedHost() } == nil)
    }

    @Test func oneselfIsRefused_byKey() throws {
        var scene = try Scene()
        scene.guest = try Somebody("bob", seed: 11)
        #expect(refusal { _ = try scene.provedHost() } == .yourself)
    }

    @Test func clocksThatAreDaysApartAreNamed() throws {
        for (apart, isRefused) in [(-2, true), (-1, false), (0, false), (1, false), (2, true)] {
            var scene = try Scene()
            scene.guestDay = UInt64(Int(Scene.day) + apart)
            let expected: MeetingError? = isRefused ? .otherDay(theirs: scene.guestDay, own: Scene.day) : nil
            #expect(refusal { _ = try scene.provedHost() } == expected)
        }
        var extreme = try Scene()
        extreme.guestDay = .max
        #expect(refusal { _ = try extreme.provedHost() } == .otherDay(theirs: .max, own: Scene.day))
    }

    @Test func aKeyThatDiffersFromTheKnownOneIsRefused() throws {
        var scene = try Scene()
        let (bob, alice) = (scene.guest.person, scene.host.person)
        scene.known = [bob.handle: bob.identityKey, alice.handle: alice.identityKey]
        #expect(refusal { _ = try scene.provedGuest() } == nil)
        scene.known = [bob.handle: alice.identityKey]
        #expect(refusal { _ = try scene.provedHost() } == .anotherIdentity(bob.handle))
        scene.known = [alice.handle: bob.identityKey]
        #expect(refusal { _ = try scene.provedGuest() } == .anotherIdentity(alice.handle))
    }

    @Test func otherWordsAreRefused_andTheOtherSideIsTold() throws {
        let scene = try Scene()
        let words = try scene.provedGuest().shownWords.text
        for wrong in [try scene.provedHost().shownWords.text, Array("academic academic academic 00".utf8), []] {
            var message: [UInt8]?
            #expect(
                refusal { _ = try scene.provedHost().compare(typed: wrong) { message = $0 } } == .otherWords)
            let told = try require(message)
            #expect(refusal { _ = try scene.concludedGuest(with: told) } == .declined)
        }
        for right in [words, Array(String(decoding: words, as: UTF8.self).uppercased().utf8), words + [0x20, 0x0A]] {
            #expect(MeetingWords.isWhole(typed: right))
            #expect(refusal { _ = try scene.provedHost().compare(typed: right) } == nil)
        }
        for slip in ["", "academic", "academic acid acne", "academic acid acne 4", "academic acid acna 42"] {
            #expect(!MeetingWords.isWhole(typed: Array(slip.utf8)), "a typing error is no guess")
        }
    }

    @Test func aPersonWhoDeclinesIsBelieved() throws {
        let scene = try Scene()
        let message = try require(scene.provedGuest().decline())
        #expect(refusal { _ = try scene.concludedHost(with: message) } == .declined)
    }

    @Test func aVerdictHasItsForm() throws {
        let (scene, keys) = (try Scene(), try Scene().keys())
        for body in [[], [3], [255], [1, 1]] as [[UInt8]] {
            let message = try keys.seal(body, .verdict, by: .guest)
            #expect(refusal { _ = try scene.concludedHost(with: message) } == .malformed)
        }
    }

    @Test func aProofHasItsForm() throws {
        let (scene, keys) = (try Scene(), try Scene().keys())
        let good = try keys.open(scene.introducedGuest().message, .proof, from: .guest)
        func refused(_ plaintext: [UInt8]) throws -> MeetingError? {
            let message = try keys.seal(plaintext, .proof, by: .guest)
            return refusal { _ = try scene.provedHost(by: message) }
        }
        #expect(try refused(good) == nil)
        #expect(try refused([]) == .malformed)
        #expect(try refused(good.dropLast()) == .malformed)
        #expect(try refused(good + [0]) == .malformed)
        #expect(try refused(good.dropLast() + [1]) == .malformed, "padding is zeros")
        var upper = good
        upper[1] -= 0x20
        #expect(try refused(upper) == .malformed, "a handle has one spelling")
        var long = good
        long[0] = 255
        #expect(try refused(long) == .malformed)
    }

    @Test func allProofsHaveOneLength() throws {
        let long = String(repeating: "x", count: 64)
        let lengths = try ["b", long].map { try Scene("alice", $0).introducedGuest().message.count }
        #expect(lengths == [720, 720])
    }

    @Test func aKeyThatDoesNotSignIsNamed() throws {
        let scene = try Scene()
        #expect(
            refusal {
                _ = try scene.agreedGuest().introduce(scene.guest.person, day: 1, with: scene.host.sign)
            } == .signingFailed)
        #expect(
            refusal {
                _ = try scene.agreedGuest().introduce(scene.guest.person, day: 1) { _ in throw Missing() }
            } == .signingFailed)
    }

    @Test func whatIsSignedNamesNeitherThePersonNorTheDayNorThePlace() throws {
        var scene = try Scene()
        let statement = try scene.keys().statement(of: .host)
        #expect(statement.count == 16 + 128)
        let invitation = try scene.invite().invitation
        scene.guest = try Somebody("carol", seed: 77)
        scene.guestDay += 1
        #expect(try scene.keys().statement(of: .host) == statement)
        #expect(statement.starts(with: Array("signet-meet/v1\n\u{1}".utf8) + invitation.key))
        #expect(try scene.invite(at: Scene.now + 9).invitation.end != invitation.end)
    }
}
