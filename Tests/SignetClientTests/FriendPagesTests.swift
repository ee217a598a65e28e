// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetTesting
import Synchronization
import Testing

@testable import SignetClient

/// The pages of a directory's list of friends, also from directories whose list never ends.
@Suite struct FriendPagesTests {
    private func page(_ handles: [String], more: Bool? = nil) -> FriendList {
        FriendList(friends: handles.map { .init(handle: $0, status: .accepted) }, more: more)
    }

    private func expectRefusal(
        _ error: ClientError, of pages: [FriendList], maximumCount: Int = 100,
        at line: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: error, sourceLocation: line) {
            var read = FriendPages(maximumCount: maximumCount)
            for page in pages { try read.take(page) }
        }
    }

    @Test func pagesAreJoinedIntoOneList() throws {
        var read = FriendPages()
        #expect(read.wantsMore && read.last == nil)
        try read.take(page(["a@x.org", "b@x.org"], more: true))
        #expect(read.wantsMore && read.last == "b@x.org")
        try read.take(page(["c@x.org"]))
        #expect(!read.wantsMore)
        #expect(read.friends.map(\.0.description) == ["a@x.org", "b@x.org", "c@x.org"])
    }

    @Test func anEmptyListIsAccepted() throws {
        var read = FriendPages()
        try read.take(page([]))
        #expect(!read.wantsMore && read.friends.isEmpty)
    }

    @Test func aRepeatedOrUnsortedPageIsRefused() {
        let first = page(["a@x.org", "b@x.org"], more: true)
        expectRefusal(.friendList(.outOfOrder), of: [first, first])
        expectRefusal(.friendList(.outOfOrder), of: [first, page(["b@x.org", "c@x.org"])])
        expectRefusal(.friendList(.outOfOrder), of: [page(["b@x.org", "a@x.org"])])
        expectRefusal(.friendList(.outOfOrder), of: [page(["a@x.org", "a@x.org"])])
    }

    @Test func anEmptyPageThatAnnouncesMoreIsRefused() {
        expectRefusal(.friendList(.emptyPage), of: [page(["a@x.org"], more: true), page([], more: true)])
    }

    @Test func aListWithoutAnEndIsRefused() {
        let pages = (0..<6).map { page(["a\($0)@x.org", "b\($0)@x.org"].map { "\($0)" }, more: true) }
        let rising = (0..<6).map { page(["a\(2 * $0)@x.org", "a\(2 * $0 + 1)@x.org"], more: true) }
        expectRefusal(.friendList(.outOfOrder), of: pages)
        expectRefusal(.friendList(.endless), of: rising, maximumCount: 9)
    }

    @Test func aPageThatIsTooLongIsRefused() {
        let handles = (10_000...10_000 + FriendList.maximumCount).map { "a\($0)@x.org" }
        expectRefusal(.friendList(.pageTooLong), of: [page(handles)], maximumCount: 10_000)
    }

    @Test func aFriendWithoutAValidHandleIsRefused() {
        expectRefusal(.malformedAnswer(.listFriends), of: [page(["A@x.org"])])
    }

    /// The attack: a directory that answers each question with the page before.
    @Test func aDirectoryThatRepeatsAPageIsRefused() async throws {
        try await TestDirectory.run { directory in
            let (_, alice) = try await directory.person("alice@example.org")
            let asked = Mutex(0)
            let body = Array(#"{"friends":[{"handle":"bob@example.org","status":"accepted"}],"more":true}"#.utf8)
            let answer = TransportResponse(status: 200, mediaType: "application/json", body: body)
            let transport = try ScriptedTransport(NIOTransport(to: directory.profile)) { request, _ in
                guard request.path.hasPrefix(Route.listFriends.path) else { return .pass }
                asked.withLock { $0 += 1 }
                return .answer(answer)
            }
            let client = try directory.client(alice, over: transport)
            await #expect(throws: ClientError.friendList(.outOfOrder)) { try await client.friends(of: alice) }
            #expect(asked.withLock { $0 } == 2)
        }
    }

    /// A list longer than a page.
    @Test func friendsOfLaterPagesAreReadToo() async throws {
        try await TestDirectory.run { directory in
            let (_, alice) = try await directory.person("alice@example.org")
            let (bobClient, bob) = try await directory.person("bob@example.org")
            _ = try await bobClient.addFriend(alice.handle, by: bob).pinning.value.get()
            let body = Array(#"{"friends":[{"handle":"ann@example.org","status":"accepted"}],"more":true}"#.utf8)
            let first = TransportResponse(status: 200, mediaType: "application/json", body: body)
            let transport = try ScriptedTransport(NIOTransport(to: directory.profile)) { request, _ in
                request.path == Route.listFriends.path ? .answer(first) : .pass
            }
            let client = try directory.client(alice, over: transport)
            let friends = try await client.friends(of: alice)
            #expect(friends.map(\.0.description) == ["ann@example.org", "bob@example.org"])
            #expect(friends.map(\.1) == [.accepted, .invited])
        }
    }
}
