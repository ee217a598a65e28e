// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import ProtocolTesting
import SignetAPI
import Testing

@testable import SignetServer

/// Serves a real directory with its notes in this process while `body` runs.
func withNotes(
    _ limits: LoginLimits = LoginLimits(), areFriends: NotesAnswering.AreFriends? = nil,
    _ body: @escaping @Sendable (NotesClient) async throws -> Void
) async throws {
    try await withDataDirectory { data in
        let notes = try await StoredNotes.open(data, areFriends: areFriends, login: limits, logger: silent)
        try await withServer(and: [notes]) { client, _ in try await body(NotesClient(client)) }
        await notes.close()
    }
}

/// A registered person who calls the notes' routes.
struct NotesPerson: Sendable {
    let person: TestPerson
    let writer: NoteWriter

    init(_ name: String) throws {
        person = try TestPerson("\(name)@example.org")
        writer = NoteWriter(person.handle, device: person.signing)
    }
}

/// Calls the notes' routes and reads the answers.
struct NotesClient: Sendable {
    let client: TestClient

    init(_ client: TestClient) { self.client = client }

    /// Registers a person.
    func join(_ name: String) async throws -> NotesPerson {
        let person = try NotesPerson(name)
        #expect(try await person.person.register(client)?.status == 200)
        return person
    }

    /// Asks for a friendship, or accepts one; the status.
    func befriend(_ other: NotesPerson, by one: NotesPerson) async throws -> Int? {
        let body = Array("{\"handle\":\"\(other.person.handle)\"}".utf8)
        return try await one.person.call(Route.addFriend, body, client)?.status
    }

    /// nil if no answer came, or a refusal.
    func call<Answer: NoteBody>(
        _ route: NoteRoute, _ body: some NoteBody, by person: NotesPerson
    ) async throws -> Answer? {
        let answer = try await person.person.call(route, body.encoded, client)
        return try answer.flatMap { $0.status == 200 ? try Answer(decoding: $0.body) : nil }
    }

    /// One push; nil if no answer came.
    func push(_ push: NotePush, by person: NotesPerson) async throws -> NotePushOutcome? {
        let answer: NotePushOutcomes? = try await call(.push, NotePushes([push]), by: person)
        return answer?.outcomes.first
    }

    /// A whole feed.
    func feed(of person: NotesPerson) async throws -> [FeedPage.Entry] {
        var (entries, next): ([FeedPage.Entry], UInt64) = ([], 0)
        while true {
            let page = try await page(of: person, after: next)
            entries += page.entries
            next = page.next
            guard next < page.newest else { return entries }
        }
    }

    func page(of person: NotesPerson, after cursor: UInt64 = 0) async throws -> FeedPage {
        let answer: FeedAnswer? = try await call(.pull, FeedRequest(cursor: cursor), by: person)
        guard case .page(let page) = answer else { throw Missing() }
        return page
    }
}
