// SPDX-License-Identifier: Apache-2.0

import Foundation
import Meeting
import Testing

/// Two people who meet, as processes; no server runs unless a test says so.
@Suite struct MeetTests {
    private static func today() -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd"
        return formatter.string(from: Date())
    }

    @Test func twoPeopleMeetWithoutADirectory_andBothListsSaySo() async throws {
        try await Town.with { town in
            let before = Self.today()
            let (host, guest) = try await town.meet("alice", "bob")
            expect(0, host)
            expect(0, guest)
            let days = [before, Self.today()]
            for (exit, peer) in [(host, Town.bob), (guest, Town.alice)] {
                #expect(
                    try exit.keys() == [
                        "bothKnow", "card", "compared", "comparedBy", "fault", "handle", "isOfDirectory", "metOn",
                        "receipt",
                    ])
                let said = try exit.object()
                #expect(said["handle"] as? String == peer && said["comparedBy"] as? String == "meeting")
                #expect(said["isOfDirectory"] as? Bool == true, "each has the other pinned")
                #expect(days.contains(said["metOn"] as? String ?? ""))
            }
            for (home, peer) in [("alice", Town.bob), ("bob", Town.alice)] {
                let list = try await town.list(home)
                #expect(
                    days.contains {
                        list.contains("\(peer)  known here") && list.contains("compared in person on \($0)")
                    })
                let page = try await town.signet(home, "people", "show", peer)
                expect(0, page)
                #expect(page.output.contains("Your devices proved to each other whose they are"))
                let store = try town.bytes("\(home)/store.sqlite")
                #expect(store.firstRange(of: Array("signet-met/v1".utf8)) == nil, "the record is sealed")
            }
        }
    }

    private static var canScan: Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/zbarimg") }
    }

    @Test(.enabled(if: canScan, "no zbarimg here")) func theCodeIsReadFromAPicture() async throws {
        try await Town.with { town in
            let (host, _) = try await MeetProcess.host(town, "alice", "--picture", "code.png")
            let guest = try MeetProcess.scanning(town, "bob", "code.png")
            host.type(try await guest.words())
            guest.type(try await host.words())
            expect(0, try await host.exit())
            expect(0, try await guest.exit())
            #expect(try await town.list("bob").contains("compared in person on"))
        }
    }

    @Test func whoMetBeforeTheDirectoryWasAskedIsComparedLater() async throws {
        try await Town.with { town in
            try town.prepareHome("carol", "carol@example.org", withIdentity: true)
            try await town.serving { _ in
                expect(
                    0,
                    try await town.signet(
                        "carol", "account", "create", "carol@example.org", "--directory", "server/directory.signet"))
            }
            let (host, guest) = try await town.meet("carol", "alice")
            expect(0, host)
            #expect(try host.object()["isOfDirectory"] as? Bool == false)
            #expect(try guest.object()["isOfDirectory"] as? Bool == false)
            #expect(
                try await town.list("alice").contains(
                    "carol@example.org  known here, nothing pinned, compared in person on"))
            let page = try await town.signet("alice", "people", "show", "carol@example.org")
            expect(0, page)
            #expect(page.output.contains("The directory was not asked"))
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "people", "add", "carol@example.org"))
                expect(0, try await town.signet("carol", "people", "accept", Town.alice))
                #expect(
                    try await town.list("alice").contains(
                        "carol@example.org  known here, 1 device pinned, compared in person on"))
            }
            expect(0, try await town.meet("alice", "carol").host, "they may meet again")
        }
    }

    @Test func otherWordsEndTheMeetingOnBothSides() async throws {
        try await Town.with { town in
            let (host, link) = try await MeetProcess.host(town, "alice")
            let guest = try MeetProcess.guest(town, "bob", link)
            let (hostWords, guestWords) = (try await host.words(), try await guest.words())
            #expect(hostWords != guestWords)
            guest.type("cat")
            guest.type(hostWords)
            // Alice types the words on her own screen.
            host.type(hostWords)
            let (first, second) = (try await host.exit(), try await guest.exit())
            expect(1, first)
            #expect(first.complaint.hasPrefix("ALARM: these are not the words"))
            expect(64, second)
            #expect(second.complaint == "The other person did not confirm the meeting.")
            #expect(second.errors.contains("Those are not three words and two digits"))
            for home in ["alice", "bob"] { #expect(try await town.list(home).contains("not compared")) }
        }
    }

    @Test func whoTypesNothingHasNotMet() async throws {
        try await Town.with { town in
            let (host, link) = try await MeetProcess.host(town, "alice")
            let guest = try MeetProcess.guest(town, "bob", link)
            host.type(try await guest.words())
            guest.leave()
            let (first, second) = (try await host.exit(), try await guest.exit())
            expect(64, first)
            #expect(first.complaint == "The other person did not confirm the meeting.")
            expect(2, second)
            #expect(second.complaint == "You typed no words, so nothing was compared and nothing was recorded.")
            #expect(try await town.list("alice").contains("not compared"))
        }
    }

    /// Somebody has keys of her own under Bob's name.
    private static func makeImpostor(_ town: Town) throws {
        try town.prepareHome("impostor", Town.bob, withIdentity: true)
    }

    @Test func anImpostorOfSomebodyWhomIKnowIsAnAlarm() async throws {
        try await Town.with { town in
            try Self.makeImpostor(town)
            let (host, link) = try await MeetProcess.host(town, "alice")
            let impostor = try MeetProcess.guest(town, "impostor", link)
            for process in [host, impostor] { process.leave() }
            let (first, second) = (try await host.exit(), try await impostor.exit())
            expect(1, first)
            #expect(first.complaint.hasPrefix("ALARM: the other device shows another identity of bob@example.org"))
            expect(3, second)
            #expect(second.complaint == "The connection to the other device ended.")
            #expect(try await town.list("alice").contains("not compared"))
        }
    }

    @Test func anImpostorWhomIMetIsFoundOutByTheDirectory() async throws {
        try await Town.with { town in
            try Self.makeImpostor(town)
            try town.prepareHome("carol", "carol@example.org", withIdentity: true)
            try await town.serving { _ in
                expect(
                    0,
                    try await town.signet(
                        "carol", "account", "create", "carol@example.org", "--directory", "server/directory.signet"))
            }
            expect(0, try await town.meet("carol", "impostor").host)
            try await town.serving { _ in
                let added = try await town.signet("carol", "people", "add", Town.bob)
                expect(2, added)
                #expect(added.errors.contains("ALARM"), "\(added.errors)")
                #expect(try await town.list("carol").contains("nothing pinned"))
                expect(2, try await town.signet("carol", "lookup", Town.bob))
                let accepted = try await town.signet("carol", "people", "trust", Town.bob, "--yes")
                expect(0, accepted)
                #expect(accepted.errors.contains("ALARM: you compared the identity of bob@example.org"))
                #expect(try await town.list("carol").contains("not the identity that you compared"))
            }
            // Whom the directory proved now, the impostor is not.
            let (host, link) = try await MeetProcess.host(town, "carol")
            let impostor = try MeetProcess.guest(town, "impostor", link)
            for process in [host, impostor] { process.leave() }
            expect(1, try await host.exit())
            expect(3, try await impostor.exit())
        }
    }

    @Test func aLinkIsGoodForOnePerson() async throws {
        try await Town.with { town in
            try town.prepareHome("eve", "eve@example.org", withIdentity: true)
            let (host, link) = try await MeetProcess.host(town, "alice")
            let eve = try MeetProcess.guest(town, "eve", link)
            _ = try await eve.words()
            // Bob comes second, with the same link.
            let late = try await MeetProcess.guest(town, "bob", link).exit()
            expect(3, late)
            #expect(
                late.complaint
                    == "No device answers at the addresses in the invitation, or says in this network that it is the one."
            )
            // Alice sees another name than the one before her.
            host.leave()
            expect(2, try await host.exit())
            eve.type("academic acid acne 42")
            expect(1, try await eve.exit())
            #expect(try await town.list("alice").contains("eve@") == false)
        }
    }

    @Test func strangersWhoConnectDoNotUseTheInvitationUp() async throws {
        try await Town.with { town in
            let (host, link) = try await MeetProcess.host(town, "alice")
            let invitation = try MeetingInvitation(link: Array(link.utf8))
            let silent = try RawConnection(port: invitation.port)
            for bytes in [
                [], [0], [0, 96] + [UInt8](repeating: 7, count: 96), [0xFF, 0xFF, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ] {
                try RawConnection(port: invitation.port).send(bytes)
            }
            let guest = try MeetProcess.guest(town, "bob", link)
            host.type(try await guest.words())
            guest.type(try await host.words())
            expect(0, try await host.exit())
            expect(0, try await guest.exit())
            withExtendedLifetime(silent) {}
        }
    }

    @Test func aMeetingThatIsCutOffLeavesNothing_andTheNextOneHolds() async throws {
        try await Town.with { town in
            for hasTyped in [false, true] {
                let (host, link) = try await MeetProcess.host(town, "alice")
                let guest = try MeetProcess.guest(town, "bob", link)
                let words = (try await host.words(), try await guest.words())
                if hasTyped { guest.type(words.0) }
                await host.kill()
                if !hasTyped { guest.type(words.0) }
                let cut = try await guest.exit()
                expect(3, cut)
                #expect(cut.complaint == "The connection to the other device ended.")
                for home in ["alice", "bob"] { #expect(try await town.list(home).contains("not compared")) }
            }
            expect(0, try await town.meet("alice", "bob").host)
            #expect(try await town.list("bob").contains("compared in person on"))
        }
    }

    @Test func aReceiptIsWrittenIfBothWantOne() async throws {
        try await Town.with { town in
            for (options, isMade) in [(["--receipt", "bob.receipt"], true), ([], false)] {
                let (host, link) = try await MeetProcess.host(town, "alice", "--receipt", "alice.receipt")
                let guest =
                    try MeetProcess.guest(town, "bob", link, options: options)
                host.type(try await guest.words())
                guest.type(try await host.words())
                let (first, second) = (try await host.exit(), try await guest.exit())
                expect(0, first)
                expect(0, second)
                #expect((try first.object()["receipt"] as? String == "alice.receipt") == isMade)
                #expect(town.exists("alice.receipt") == isMade)
                guard isMade else { continue }
                let receipts = try ["alice", "bob"].map { try town.bytes("\($0).receipt") }
                #expect(receipts[0] == receipts[1])
                let read = try MeetingReceipt(decoding: receipts[0])
                #expect(Set(read.people.map(\.handle.description)) == [Town.alice, Town.bob])
                try FileManager.default.removeItem(at: town["alice.receipt"])
            }
        }
    }

    @Test func whatCannotBeAMeetingIsSaid() async throws {
        try await Town.with { town in
            let wrong = try await town.signet("alice", "meet", "signet-meet:AAAA")
            expect(65, wrong)
            #expect(wrong.complaint.hasPrefix("That is not the link of 'signet meet'"))
            let name = try await town.signet("alice", "meet", "--address", "localhost")
            expect(64, name)
            #expect(name.complaint == "'localhost' is not an IP address.")
            let foreign = try await town.signet("alice", "meet", "--address", "192.0.2.1")
            expect(3, foreign)
            #expect(foreign.complaint == "This machine cannot wait at that address and port.")
            let linked = try await town.signet("phone", "meet", "--address", "127.0.0.1")
            expect(64, linked)
            #expect(linked.complaint.contains("identity"))
            let (host, link) = try await MeetProcess.host(town, "alice")
            let own = try await MeetProcess.guest(town, "alice", link).exit()
            expect(3, own)
            let shown = try await host.exit()
            expect(64, shown)
            #expect(shown.complaint == "The other device shows your own identity.")
            let gone = try await town.signet("bob", "meet", link)
            expect(3, gone)
            #expect(
                gone.complaint
                    == "No device answers at the addresses in the invitation, or says in this network that it is the one."
            )
        }
    }

    @Test func theGuardiansScreenSaysWhoSaysThatTheyMet() async throws {
        try await Circle.with { circle in
            expect(0, try await circle.town.meet("ming", "ben").guest)
            try await circle.setGuardians()
            try await circle.run("ming", "guardians")
            try circle.makeNewDevice("new")
            try await circle.run("new", "recover", "start", Circle.ming, "--directory", circle.town.profile.path())
            try await circle.letIn(by: "ana", on: "new")
            let ben = try await circle.run("ben", "guardian").output
            #expect(
                ben.firstMatch(of: /You met in person on \d{4}-\d\d-\d\d, checked by this device\./) != nil, "\(ben)")
            let facts = try await circle.run("ben", "guardian", "--json").object()["requests"] as? [[String: Any]]
            #expect(facts?.first?["knownBy"] as? String == "meeting-checked-here")
            let ana = try await circle.run("ana", "guardian").output
            #expect(ana.contains("You met in person on 2025-03-15. Stated by them, not proven"))
            #expect(try await circle.run("cleo", "guardian").output.contains("have never compared keys"))
        }
    }
}

/// A connection of somebody who has not seen the invitation.
final class RawConnection: Sendable {
    private let number: Int32

    init(port: UInt16) throws {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        number = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        address.sin_port = port.bigEndian
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { [number] address in
                connect(number, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw CocoaError(.fileReadUnknown) }
    }

    deinit { close(number) }

    func send(_ bytes: [UInt8]) throws {
        let count = bytes.withUnsafeBytes { [number] in write(number, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw CocoaError(.fileWriteUnknown) }
    }
}
