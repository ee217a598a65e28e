// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import Testing

@testable import Meeting

/// What somebody between two devices, or at the other end, can try.
@Suite struct MeetingAttackTests {
    @Test func messagesSentBackToTheirSenderAreRefused() throws {
        let scene = try Scene()
        let own = try scene.agreedHost().opening
        #expect(refusal { _ = try scene.invite().receive(own, at: Scene.now) } == .notInvited)
        let proof = try scene.introducedGuest().message
        #expect(refusal { _ = try scene.provedGuest(by: proof) } == .notOpened)
        let (host, guest) = (try scene.confirmedHost().message, try scene.confirmedGuest().message)
        #expect(refusal { _ = try scene.concludedHost(with: host) } == .notOpened)
        #expect(refusal { _ = try scene.concludedGuest(with: guest) } == .notOpened)
    }

    @Test func messagesOfAnotherMeetingOfTheSamePeopleAreRefused() throws {
        let (scene, earlier) = (try Scene(), try Scene(seed: 2))
        let proof = try earlier.introducedGuest().message
        #expect(refusal { _ = try scene.provedHost(by: proof) } == .notOpened)
        let answer = try require(earlier.provedHost().answer)
        #expect(refusal { _ = try scene.provedGuest(by: answer) } == .notOpened)
        let verdict = try earlier.confirmedGuest().message
        #expect(refusal { _ = try scene.concludedHost(with: verdict) } == .notOpened)
    }

    @Test func aMessageOfOneStepIsNoneOfAnother() throws {
        let scene = try Scene()
        let proof = try scene.introducedGuest().message
        #expect(refusal { _ = try scene.concludedHost(with: proof) } == .notOpened)
        let verdict = try scene.confirmedGuest().message
        #expect(refusal { _ = try scene.provedHost(by: verdict) } == .notOpened)
    }

    @Test func anotherPersonsKeyIsNotMine() throws {
        let scene = try Scene()
        let cleo = try Somebody("cleo", seed: 33)
        // Bob names Cleo's key and has no signature of it.
        let stolen = try scene.guestProof(cleo.person)
        #expect(refusal { _ = try scene.provedHost(by: stolen) } == .invalidSignature)
    }

    @Test func aSignatureOfTheOtherRoleIsRefused() throws {
        let scene = try Scene()
        let signature = try scene.guest.sign(scene.keys().statement(of: .host))
        let proof = try scene.guestProof(signature: signature)
        #expect(refusal { _ = try scene.provedHost(by: proof) } == .invalidSignature)
    }

    @Test func aSignatureOfAnotherMeetingIsRefused() throws {
        let (scene, earlier) = (try Scene(), try Scene(seed: 2))
        let signature = try scene.guest.sign(earlier.keys().statement(of: .guest))
        let proof = try scene.guestProof(signature: signature)
        #expect(refusal { _ = try scene.provedHost(by: proof) } == .invalidSignature)
    }

    @Test func anIdentityIsBoundToTheMeeting() throws {
        let (scene, earlier) = (try Scene(), try Scene(seed: 2))
        let (keys, bob) = (try scene.keys(), scene.guest.person)
        let cleo = try require(
            MeetingPerson(
                handle: Handle(canonical: Array("cleo@example.org".utf8)), identityKey: bob.identityKey,
                origin: bob.origin))
        let others = [
            Array(keys.binding(of: cleo, as: .guest)), Array(keys.binding(of: bob, as: .host)),
            Array(try earlier.keys().binding(of: bob, as: .guest)), [UInt8](repeating: 0, count: 32),
        ]
        for binding in others {
            let proof = try scene.guestProof(binding: binding)
            #expect(refusal { _ = try scene.provedHost(by: proof) } == .notBound)
        }
        let good = try scene.guestProof()
        #expect(refusal { _ = try scene.provedHost(by: good) } == nil)
    }

    /// Mallory meets both in the name of the other, with keys of her own. Every check of the devices holds, and the words differ.
    @Test func whoStandsBetweenTwoPeopleIsBetrayedByTheWords() throws {
        for seed in UInt8(3)..<9 {
            var (left, right) = (try Scene("alice", "bob", seed: seed), try Scene("alice", "bob", seed: seed + 6))
            left.guest = try Somebody("bob", seed: 66)
            right.host = try Somebody("alice", seed: 67)
            let onBobsScreen = try right.provedGuest().shownWords.text
            #expect(refusal { _ = try left.provedHost().compare(typed: onBobsScreen) } == .otherWords)
            let onAlicesScreen = try left.provedHost().shownWords.text
            #expect(refusal { _ = try right.provedGuest().compare(typed: onAlicesScreen) } == .otherWords)
        }
    }

    /// Without the commitment the host could look for a number after the guest's, until the words are the wanted ones.
    @Test func theHostsNumberIsFixedBeforeTheGuestsIsKnown() throws {
        let scene = try Scene()
        let invitation = try scene.invite().invitation
        for number in UInt8(0)..<64 {
            let chosen = [UInt8](repeating: number, count: 32)
            #expect(refusal { _ = try scene.scan(invitation).receive(chosen) } == .otherOpening)
        }
    }

    @Test func whoRecordsEverythingButTheScreenHasNoKey() throws {
        let scene = try Scene()
        let invitation = try scene.invite().invitation
        let other = try require(
            MeetingInvitation(
                key: invitation.key, commitment: invitation.commitment, secret: [UInt8](repeating: 9, count: 16),
                end: invitation.end, port: invitation.port, addresses: invitation.addresses))
        let hello = try MeetingHello(decoding: scene.scan(invitation).hello, to: invitation)
        // The Diffie-Hellman secret and all messages, as a quantum computer would give them, but not the secret on the screen.
        let key = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: [UInt8](repeating: 17, count: 32))
        let keys = try MeetingKeys(other, hello: hello, number: scene.agreedHost().opening, key, with: hello.key)
        let proof = try scene.introducedGuest().message
        #expect(refusal { _ = try keys.open(proof, .proof, from: .guest) } == .notOpened)
        let same = try MeetingKeys(invitation, hello: hello, number: scene.agreedHost().opening, key, with: hello.key)
        #expect(refusal { _ = try same.open(proof, .proof, from: .guest) } == nil)
    }
}
