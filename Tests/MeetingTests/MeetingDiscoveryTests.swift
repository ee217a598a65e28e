// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import MulticastDNS
import Testing

@testable import Meeting

/// How a host is found without an address, and who in the network wants to know or to deceive.
@Suite struct MeetingDiscoveryTests {
    private let address = MeetingAddress.version4([192, 0, 2, 1])

    private func advert(_ seed: UInt8 = 1) throws -> MeetingAdvert {
        MeetingAdvert(try Scene(seed: seed).invite().invitation, at: [address])
    }

    private func query(_ name: MulticastName, _ type: UInt16 = DNSType.any) -> DNSMessage {
        var message = DNSMessage()
        message.id = 77
        message.questions = [DNSQuestion(name, type)]
        return message
    }

    @Test func whoHasSeenTheInvitationFindsTheHost() throws {
        let invitation = try Scene().invite().invitation
        var search = MeetingSearch(for: invitation)
        let answer = try require(try advert().answer(to: search.query(id: 77), isDirect: true))
        #expect(answer.id == 77 && answer.questions == search.query(id: 77).questions)
        #expect((answer.answers + answer.additional).allSatisfy { $0.lifetime <= 10 && !$0.isUnique })
        let heard = try DNSMessage(decoding: answer.encoded)
        #expect(search.take(heard) == [MeetingSearch.Place(address: address, port: invitation.port)])
        #expect(search.take(heard).isEmpty, "a place is told once")
    }

    /// Somebody who listens to the network learns neither who waits, nor anything of the code.
    @Test func whatIsSaidNamesNobody() throws {
        let scene = try Scene()
        let invitation = try scene.invite().invitation
        let advert = try advert()
        for message in [advert.announcement, advert.goodbye, MeetingSearch(for: invitation).query(id: 1)] {
            let bytes = message.encoded
            for secret in [invitation.key, invitation.secret, invitation.commitment, scene.host.person.identityKey] {
                #expect(bytes.firstRange(of: secret.prefix(8)) == nil)
                #expect(bytes.firstRange(of: Hex.encode(Array(secret.prefix(4)))) == nil)
            }
            #expect(bytes.firstRange(of: Array("alice".utf8)) == nil)
        }
        #expect(try self.advert().instance != self.advert(2).instance)
    }

    @Test func whoBrowsesSeesTheServiceWithAllThatBelongsToIt() throws {
        let answer = try require(
            try advert().answer(to: query(MeetingAdvert.service, DNSType.pointer), isDirect: false))
        #expect(answer.answers.map(\.type) == [DNSType.pointer])
        #expect(answer.additional.map(\.type) == [DNSType.service, DNSType.text, DNSType.address4])
        #expect(answer.additional.allSatisfy { $0.isUnique && $0.lifetime == 120 })
        let kinds = try require(MulticastName("_services._dns-sd._udp.local"))
        #expect(try advert().answer(to: query(kinds), isDirect: false)?.answers.map(\.type) == [DNSType.pointer])
    }

    @Test func whatIsAskedOfOthersIsNotAnswered() throws {
        let advert = try advert()
        for name in ["other._signet-meet._tcp.local", "_http._tcp.local", "local"] {
            #expect(try advert.answer(to: query(try require(MulticastName(name))), isDirect: false) == nil)
        }
        #expect(advert.answer(to: query(MeetingAdvert.service, DNSType.address4), isDirect: false) == nil)
        var answer = advert.announcement
        answer.answers = []
        answer.questions = [DNSQuestion(MeetingAdvert.service, DNSType.pointer)]
        #expect(advert.answer(to: answer, isDirect: false) == nil, "an answer is no question")
    }

    @Test func whatTheAskerKnowsIsNotSaidAgain() throws {
        let advert = try advert()
        var message = query(MeetingAdvert.service, DNSType.pointer)
        message.answers = advert.announcement.answers.filter { $0.type == DNSType.pointer }
        #expect(advert.answer(to: message, isDirect: false) == nil)
        message.answers = message.answers.map { DNSRecord($0.name, $0.value, lifetime: 59, isUnique: false) }
        #expect(advert.answer(to: message, isDirect: false) != nil, "what is soon forgotten is said again")
    }

    @Test func aGoodbyeIsNoPlace() throws {
        var search = MeetingSearch(for: try Scene().invite().invitation)
        #expect(search.take(try advert().goodbye).isEmpty)
        #expect(try advert().goodbye.answers.allSatisfy { $0.lifetime == 0 })
    }

    // MARK: Anyone may answer

    @Test func anAnswerForAnotherMeetingIsNoPlace() throws {
        var search = MeetingSearch(for: try Scene().invite().invitation)
        #expect(search.take(try advert(2).announcement).isEmpty)
        var question = try advert().announcement
        question.isAnswer = false
        #expect(search.take(question).isEmpty)
    }

    /// Somebody who answers with a thousand places makes the guest try eight.
    @Test func aFloodOfPlacesIsBounded() throws {
        let invitation = try Scene().invite().invitation
        var search = MeetingSearch(for: invitation)
        var count = 0
        for round in 0..<50 {
            var message = DNSMessage()
            message.isAnswer = true
            let host = try require(MulticastName("host\(round).local"))
            for port in 1...20 as ClosedRange<UInt16> {
                message.answers.append(
                    DNSRecord(try advert().instance, .service(port: port, host: host), lifetime: 10, isUnique: false))
            }
            for last in 1...20 as ClosedRange<UInt8> {
                message.answers.append(DNSRecord(host, .address4([192, 0, 2, last]), lifetime: 10, isUnique: false))
            }
            count += search.take(message).count
        }
        #expect(count == MeetingSearch.maximumCount)
    }

    @Test func aFloodOfQuestionsMakesNoFloodOfAnswers() {
        var limit = AnswerLimit()
        var (toAll, direct) = (0, 0)
        for second: Int64 in 0..<3 {
            for _ in 0..<1000 {
                if limit.take(isDirect: false, in: second) { toAll += 1 }
                if limit.take(isDirect: true, in: second) { direct += 1 }
            }
        }
        #expect(toAll == 3 && direct == 60)
    }

    @Test func anInvitationWithoutAnAddressIsOne() throws {
        let host = MeetingHost(
            at: [], port: 4711, key: .init(), randomness: [UInt8](repeating: 7, count: 48), now: Scene.now, seconds: 60)
        guard let host else { throw Missing() }
        let invitation = host.invitation
        #expect(try MeetingInvitation(link: invitation.link) == invitation)
        #expect(invitation.addresses.isEmpty)
    }
}
