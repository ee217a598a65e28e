// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import KeyDirectory
import KeyTransparency
import NIOCore
import NotesAPI
import Platform
import SignetAPI
import Synchronization
import Testing

@testable import SignetServer

/// What the operator's calls do to accounts of a running server.
@Suite(.serialized) struct AdministrationTests {
    /// Serves a directory with all its parts and its socket in this process while `body` runs.
    ///
    /// - Parameter more: parts that the operator's calls reach as well.
    private func withAdministration(
        _ change: @escaping (inout HTTPSServer.Configuration) -> Void = { _ in }, and more: [any PartAnswering] = [],
        _ body: @escaping @Sendable (TestClient, AdministrationClient, DataDirectory) async throws -> Void
    ) async throws {
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            let parts = try await StandardParts.open(data, beside: stored, logger: silent)
            let socket = AdministrationSocket(
                Administration(stored.directory, parts + more, logger: silent), at: data.administration, logger: silent)
            let server = HTTPSServer(
                answering: DirectoryAdapter(stored.directory), and: parts, as: try ServerTLS(stored.identity),
                administration: socket, configuration: configuration(change), logger: silent)
            try await run(server) { port in
                try await body(
                    TestClient(port: port, root: stored.profile.tlsRoot), AdministrationClient(data), data)
            }
            for part in parts { await part.close() }
            await stored.directory.close()
        }
    }

    private func person(_ name: String, _ client: TestClient) async throws -> TestPerson {
        let person = try TestPerson("\(name)@example.org")
        try await expectStatus(200, of: person.register(client))
        return person
    }

    private static let suspended = "{\"error\":\"suspended\"}"

    @Test func aSuspendedAccountIsRefusedOnEveryRouteButThoseThatProtectIt() async throws {
        try await withAdministration { client, admin, _ in
            let alice = try await person("alice", client)
            let record: AccountRecord = try await admin.call(.account(alice.handle, .suspend))
            #expect(record.suspended != nil)
            for route: Route in [
                .addFriend, .acceptFriend, .blockFriend, .listFriends, .listFriendsAfter, .signedFriendRequest,
            ] {
                let body = Array("{\"handle\":\"bob@example.org\"}".utf8)
                #expect(try await alice.call(route, body, client)?.text == Self.suspended, "\(route)")
            }
            for route in NoteRoute.allCases where route.access == .signed {
                #expect(try await alice.call(route, [], client)?.text == Self.suspended, "\(route)")
            }
            #expect(try await alice.call(Route.updateState, [], client)?.text == "{\"error\":\"bad_request\"}")
            for route in RecoveryRoute.allCases where route.access == .signed {
                #expect(try await alice.call(route, [], client)?.text != Self.suspended, "\(route)")
            }
            let again: AccountRecord = try await admin.call(.account(alice.handle, .resume))
            #expect(again.suspended == nil)
            try await expectStatus(200, of: alice.call(Route.listFriends, [], client))
        }
    }

    @Test func anErasedAccountIsGoneWhileTheServerRuns_andOthersAreNot() async throws {
        let part = PartWithErasures()
        try await withAdministration(and: [part]) { client, admin, data in
            let (alice, bob) = (try await person("alice", client), try await person("bob", client))
            try await expectStatus(200, of: alice.call(NoteRoute.pull, FeedRequest(cursor: 0).encoded, client))
            let _: [String: String] = try await admin.call(.account(alice.handle, .erase))
            let erased = part.erased.withLock { $0 }
            #expect(erased == [alice.handle], "each part is told")
            #expect(try await alice.call(Route.listFriends, [], client)?.text == "{\"error\":\"not_your_account\"}")
            #expect(try await alice.register(client)?.text == "{\"error\":\"handle_taken\"}")
            try await expectStatus(200, of: bob.call(Route.listFriends, [], client))
            let page: AccountPage = try await admin.call(.accounts(after: nil))
            #expect(page.accounts.map(\.handle) == ["bob@example.org"])
            #expect(page.next == nil)
            await #expect(throws: AdministrationError.refused(.notFound)) {
                let _: AccountRecord = try await admin.call(.account(alice.handle, .erase))
            }
            for file in [data.notesDatabase, data.recovery, data.records + "/directory.sqlite"] {
                let bytes = FileManager.default.contents(atPath: file) ?? Data()
                #expect(bytes.range(of: Data(alice.handle.bytes)) == nil, "\(file)")
            }
        }
    }

    @Test func aServerThatRegistersByInvitationRefusesTheUninvited() async throws {
        try await withAdministration({ $0.registersByInvitation = true }) { client, admin, _ in
            let alice = try TestPerson("alice@example.org")
            let notInvited = "{\"error\":\"not_invited\"}"
            #expect(try await alice.register(client)?.text == notInvited)
            let record: InvitationRecord = try await admin.call(.account(alice.handle, .invite))
            let invitation = try #require(Invitation(typed: record.code))
            #expect(try await alice.register(client)?.text == notInvited)
            try await expectStatus(200, of: alice.register(client, showing: .invitation(invitation)))
            try await expectStatus(200, of: alice.call(Route.listFriends, [], client))
            #expect(
                try await TestPerson("bob@example.org").register(client, showing: .invitation(invitation))?.text
                    == notInvited)
        }
    }

    @Test func eventsAreListedWithTheNewestFirst() async throws {
        try await withAdministration { client, admin, _ in
            let alice = try await person("alice", client)
            let _: AccountRecord = try await admin.call(.account(alice.handle, .suspend))
            let answer: AccountEvents = try await admin.call(.account(alice.handle, .events))
            #expect(answer.events.map(\.event) == ["suspended", "registered"])
        }
    }

    /// The user comes from the kernel. What the client says of itself is beside it, and takes its place nowhere.
    @Test func theTrailHasTheUserOfTheSocketsPeer_andItsClaimAsOne() async throws {
        try await withAdministration { client, admin, data in
            let alice = try await person("alice", client)
            let _: AccountRecord = try await admin.call(.quota(alice.handle, 5_000_000))
            let _: AccountRecord = try await AdministrationClient(data, claiming: "root\r\nuid: 0").call(
                .quota(alice.handle, 6_000_000))
            let _: InvitationRecord = try await admin.call(.account(alice.handle, .release))
            let answer: AccountEvents = try await admin.call(.account(alice.handle, .events))
            let events = answer.events
            #expect(events.map(\.event) == ["released", "suspended", "quota-set", "quota-set", "registered"])
            #expect(events.dropLast().allSatisfy { $0.uid == getuid() && $0.user == UserName.of(getuid()) })
            #expect(events.map(\.quotaBefore) == [nil, nil, 5_000_000, nil, nil])
            #expect(events.map(\.quotaAfter) == [nil, nil, 6_000_000, 5_000_000, nil])
            #expect(events.map(\.claim) == [nil, nil, "root??uid:?0", nil, nil])
            #expect(events.first?.until != nil && events.last?.uid == nil)
        }
    }

    @Test func aCallWhoseUserTheSystemDoesNotSayIsRefused() async throws {
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            let administration = Administration(stored.directory, [], logger: silent)
            let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/accounts")
            #expect(await administration.answer(request, from: nil).status == .serviceUnavailable)
            #expect(await administration.answer(request, from: 0).status == .ok)
            await stored.directory.close()
        }
    }

    /// The account that had the handle is gone, and the next one is not there yet.
    @Test func whatIsDoneToAnAccountIsNotDoneToAReleasedHandle() async throws {
        try await withAdministration { client, admin, _ in
            let alice = try await person("alice", client)
            let _: InvitationRecord = try await admin.call(.account(alice.handle, .release))
            let before: AccountRecord = try await admin.call(.account(alice.handle, .show))
            for call: AdministrationCall in [
                .account(alice.handle, .suspend), .account(alice.handle, .resume), .quota(alice.handle, 1_000_000),
                .quota(alice.handle, nil),
            ] {
                await #expect(throws: AdministrationError.refused(.released), "\(call)") {
                    let _: AccountRecord = try await admin.call(call)
                }
            }
            let after: AccountRecord = try await admin.call(.account(alice.handle, .show))
            #expect(after == before)
            let events: AccountEvents = try await admin.call(.account(alice.handle, .events))
            #expect(!events.events.contains { $0.event.hasPrefix("quota") || $0.event == "resumed" })
            let again: InvitationRecord = try await admin.call(.account(alice.handle, .release))
            #expect(!again.code.isEmpty, "another code is to be had")
        }
    }

    /// What the slower one erases would be the next holder's, who has the code of the quicker one.
    @Test func whileAHandleIsReleasedItIsNeitherReleasedNorErasedBesides() async throws {
        let part = PartWithErasures()
        try await withAdministration(and: [part]) { client, admin, _ in
            let (alice, bob) = (try await person("alice", client), try await person("bob", client))
            part.set { _ in
                guard part.erased.withLock({ $0 }) == [alice.handle] else { return }
                await #expect(throws: AdministrationError.refused(.unavailable), "released twice") {
                    let _: InvitationRecord = try await admin.call(.account(alice.handle, .release))
                }
                await #expect(throws: AdministrationError.refused(.unavailable), "erased besides") {
                    let _: [String: String] = try await admin.call(.account(alice.handle, .erase))
                }
                let _: InvitationRecord = try await admin.call(.account(bob.handle, .release))
            }
            let first: InvitationRecord = try await admin.call(.account(alice.handle, .release))
            #expect(part.erased.withLock { $0 } == [alice.handle, bob.handle])
            part.set { _ in }
            let second: InvitationRecord = try await admin.call(.account(alice.handle, .release))
            #expect(second.code != first.code, "afterwards it is released again")
        }
    }

    @Test func aReleaseThatFailedIsDoneAgain() async throws {
        let part = PartWithErasures()
        try await withAdministration(and: [part]) { client, admin, _ in
            let alice = try await person("alice", client)
            part.set { _ in throw PartRefusal(.unavailable) }
            for call: AdministrationCall in [.account(alice.handle, .release), .account(alice.handle, .erase)] {
                await #expect(throws: AdministrationError.refused(.unavailable), "\(call)") {
                    let _: InvitationRecord = try await admin.call(call)
                }
            }
            part.set { _ in }
            let _: InvitationRecord = try await admin.call(.account(alice.handle, .release))
        }
    }

    @Test(.timeLimit(.minutes(2))) func onlyTheServersUserCanOpenTheSocket() async throws {
        try await withAdministration { _, _, data in
            // The server may listen before the socket is made.
            while FileStatus(of: data.administration)?.permissions != 0o600 {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(FileStatus(of: data.path)?.permissions == 0o700)
        }
    }

    @Test func theSocketIsGoneAfterTheServer_andALeftOneIsReplaced() async throws {
        try await withDataDirectory { data in
            for _ in 0..<2 {
                let stored = try await StoredDirectory.open(data, logger: silent)
                let socket = AdministrationSocket(
                    Administration(stored.directory, [], logger: silent), at: data.administration, logger: silent)
                let server = HTTPSServer(
                    answering: DirectoryAdapter(stored.directory), and: [], as: try ServerTLS(stored.identity),
                    administration: socket, configuration: configuration { _ in }, logger: silent)
                try leaveSocket(at: data.administration)
                try await run(server) { _ in
                    let page: AccountPage = try await AdministrationClient(data).call(.accounts(after: nil))
                    #expect(page.accounts.isEmpty)
                }
                await stored.directory.close()
                #expect(FileStatus(ofEntry: data.administration) == nil)
            }
        }
    }

    /// What a killed process leaves.
    private func leaveSocket(at path: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path,
        ]
        try process.run()
        process.waitUntilExit()
        #expect(FileStatus(ofEntry: path) != nil)
    }

    @Test func withoutAServerACallSaysSo() async throws {
        try await withDataDirectory { data in
            await #expect(throws: AdministrationError.notRunning) {
                let _: AccountPage = try await AdministrationClient(data).call(.accounts(after: nil))
            }
        }
    }

    @Test func withoutADataDirectoryACallSaysSo() async throws {
        await #expect(throws: AdministrationError.noDirectory) {
            let _: AccountPage = try await AdministrationClient(DataDirectory(path: "/nowhere/data"))
                .call(.accounts(after: nil))
        }
    }

    @Test(arguments: [
        (EACCES, AdministrationError.notAllowed), (EPERM, .notAllowed), (ENOENT, .notRunning),
        (ECONNREFUSED, .notRunning),
    ])
    func whoMayNotOpenTheSocketIsToldSo(_ code: Int32, _ error: AdministrationError) {
        #expect(AdministrationError(connecting: IOError(errnoCode: code, reason: "connect")) == error)
    }

    @Test func aPathWithoutRoomForASocketIsNamed() async throws {
        let data = DataDirectory(path: "/tmp/" + String(repeating: "x", count: 100))
        await #expect(throws: AdministrationError.pathTooLong) {
            let _: AccountPage = try await AdministrationClient(data).call(.accounts(after: nil))
        }
    }

    @Test func everyCallIsReadBackFromItsPath() throws {
        let handle = try Handle(typed: Array("alice@example.org".utf8))
        let calls =
            [AdministrationCall.accounts(after: nil), .accounts(after: handle), .quota(handle, nil), .quota(handle, 5)]
            + AdministrationCall.Act.allCases.map { .account(handle, $0) }
        for call in calls { #expect(AdministrationCall(method: call.method, path: call.path) == call) }
    }

    @Test(arguments: [
        ("GET", "/"), ("GET", ""), ("GET", "/accounts/"), ("POST", "/accounts"), ("GET", "/accounts?after="),
        ("GET", "/accounts?after=alice"), ("GET", "/accounts/ALICE@example.org"),
        ("GET", "/accounts/alice@example.org/"),
        ("POST", "/accounts/alice@example.org"), ("GET", "/accounts/alice@example.org/erase"),
        ("POST", "/accounts/alice@example.org/show"), ("POST", "/accounts/alice@example.org/erase/"),
        ("POST", "/accounts/alice@example.org/erase?yes"), ("DELETE", "/accounts/alice@example.org"),
        ("GET", "/accounts/alice@example.org?after=bob@example.org"),
        ("POST", "/accounts/alice@example.org/quota"), ("GET", "/accounts/alice@example.org/quota?bytes=5"),
        ("POST", "/accounts/alice@example.org/quota?bytes="), ("POST", "/accounts/alice@example.org/quota?bytes=05"),
        ("POST", "/accounts/alice@example.org/quota?bytes=-1"),
        ("POST", "/accounts/alice@example.org/quota?bytes=18446744073709551616"),
    ]) func anythingElseIsNoCall(method: String, path: String) throws {
        let method = try #require(HTTPRequest.Method(rawValue: method))
        #expect(AdministrationCall(method: method, path: path) == nil)
    }

    @Test func aPathThatDoesNotFitASocketsAddressIsRefused() {
        #expect(AdministrationSocket.isShortEnough(String(repeating: "a", count: 103)))
        #expect(!AdministrationSocket.isShortEnough(String(repeating: "a", count: 108)))
    }
}

/// A part that keeps in mind whose account it was told to erase.
private final class PartWithErasures: PartAnswering {
    let erased = Mutex<[Handle]>([])
    var routes: [any PartRoute] { [] }

    func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] { throw PartRefusal(.notFound) }

    private let hook = Mutex<@Sendable (Handle) async throws -> Void>({ _ in })

    /// - Parameter new: what happens at each erasure, before its end.
    func set(_ new: @escaping @Sendable (Handle) async throws -> Void) { hook.withLock { $0 = new } }

    func erase(_ handle: Handle) async throws {
        erased.withLock { $0.append(handle) }
        try await hook.withLock { $0 }(handle)
    }

    func close() async {}
}
