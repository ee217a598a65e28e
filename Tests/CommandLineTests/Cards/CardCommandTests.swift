// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Business cards between two people, each in their own process.
@Suite struct CardCommandTests {
    private func make(_ town: Town) async throws {
        let made = try await town.signet(
            "alice", "card", "make", "alice.card", "--name", "Alice Λ", "--email", "alice@example.org", "--note",
            "met at the fair")
        expect(0, made)
    }

    private func show(_ town: Town, _ arguments: String...) async throws -> Exit {
        try await town.signet(["card", "show", "alice.card"] + arguments + ["--home", "alice"])
    }

    private func verify(_ town: Town, _ file: String, _ arguments: String...) async throws -> Exit {
        try await town.signet(["card", "verify", file] + arguments)
    }

    @Test func onlyTheChosenLineIsShown_andVerifyStatesWhatItProves() async throws {
        try await Town.with { town in
            try await make(town)
            let listed = try await show(town)
            expect(0, listed)
            #expect(listed.output.contains("Alice Λ") && listed.output.contains("met at the fair"))
            expect(0, try await show(town, "--only", "name", "--out", "shown.txt"))
            let read = try await verify(town, "shown.txt")
            expect(0, read)
            #expect(read.output.contains("Alice Λ") && !read.output.contains("alice@example.org"))
            for words in ["Proved: the person who made this card", "Only its maker says so", "A photograph"] {
                #expect(read.output.contains(words), "\(words)")
            }
            let json = try await verify(town, "shown.txt", "--json").object()
            #expect(json["fields"] as? [String: String] == ["name": "Alice Λ"])
            #expect(json["issuer"] == nil, "the key is shown on request only")
            let advanced = try await verify(town, "shown.txt", "--advanced")
            #expect(advanced.output.contains("did:key:zDn"))
        }
    }

    @Test func aShownCardIsReadFromStandardInput() async throws {
        try await Town.with { town in
            try await make(town)
            expect(0, try await show(town, "--out", "shown.txt"))
            let read = try await Exit.of(
                URL(filePath: "/bin/sh"), ["-c", "exec \"$0\" card verify - < shown.txt", Program.signet.file.path()],
                in: town.folder)
            expect(0, read)
            #expect(read.output.contains("alice@example.org"))
        }
    }

    @Test func theCodeIsPrintedAndSavedAsAPicture() async throws {
        try await Town.with { town in
            try await make(town)
            let drawn = try await show(town, "--only", "name", "--qr", "--picture", "card.png")
            expect(0, drawn)
            let rows = drawn.output.split(separator: "\n").filter { $0.contains("\u{2588}") }
            #expect(rows.count > 50 && Set(rows.map(\.count)).count == 1)
            #expect(try town.bytes("card.png").starts(with: [0x89, 0x50, 0x4E, 0x47]))
        }
    }

    /// Bob has stolen alice's card file.
    @Test func aStolenCardIsNotShown() async throws {
        try await Town.with { town in
            try await make(town)
            let shown = try await town.signet("bob", "card", "show", "alice.card", "--out", "shown.txt")
            expect(65, shown)
            #expect(!town.exists("shown.txt"))
            let given = try await verify(town, "alice.card")
            expect(1, given)
            #expect(given.complaint.contains("was not signed when it was shown"))
        }
    }

    @Test func aCardThatWasChangedIsRefused() async throws {
        try await Town.with { town in
            try await make(town)
            expect(0, try await show(town, "--only", "name", "--only", "note", "--out", "shown.txt"))
            let good = try town.bytes("shown.txt")
            let tildes = good.indices.filter { good[$0] == UInt8(ascii: "~") }
            try #require(tildes.count == 3)
            // A line is taken away.
            try town.write(good[...tildes[0]] + good[(tildes[1] + 1)...], to: "less.txt")
            expect(1, try await verify(town, "less.txt"))
            // A character of the issuer's token is changed.
            for place in [tildes[0] - 20, tildes[0] / 2] {
                var changed = good
                changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                try town.write(changed, to: "changed.txt")
                #expect([1, 65].contains(try await verify(town, "changed.txt").status))
            }
            try town.write(Array("no card\n".utf8), to: "no.txt")
            expect(65, try await verify(town, "no.txt"))
            expect(65, try await verify(town, "not-there.txt"))
        }
    }

    @Test func aCardIsMadeOnlyOnTheIdentitysDevice_andReplacesNoFile() async throws {
        try await Town.with { town in
            let elsewhere = try await town.signet("phone", "card", "make", "bob.card", "--name", "Bob")
            expect(64, elsewhere)
            #expect(elsewhere.complaint.contains("on another device"))
            try await make(town)
            let before = try town.bytes("alice.card")
            #expect(try await town.signet("alice", "card", "make", "alice.card", "--name", "Alice").status != 0)
            #expect(try town.bytes("alice.card") == before)
            expect(64, try await town.signet("alice", "card", "make", "other.card", "--name", "a\nb"))
            expect(64, try await town.signet("alice", "card", "make", "alice/x.card", "--name", "Alice"))
            expect(64, try await show(town, "--only", "website"))
        }
    }
}
