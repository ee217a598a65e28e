// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A database or key that is gone is not taken for one that was never made: an empty one would forget what people have stored.
@Suite(.serialized) struct LostPartsTests {
    private static let parts = ["notes/notes.sqlite", "notes/login.key", "recovery.sqlite", "signals.sqlite"]

    private func run(_ town: Town, _ data: String) async throws -> Exit {
        try await town.signetd("run", "--data", data, "--bind", "127.0.0.1:0")
    }

    /// What it wants to connect to is not there: it refuses before.
    private func move(_ town: Town, _ data: String) async throws -> Exit {
        try await town.signetd(
            "move", "--data", data, "--database", "host=/nonexistent", "--objects", "https://localhost:1", "--bucket",
            "b")
    }

    private func copy(_ town: Town, to target: String) throws {
        try FileManager.default.copyItem(at: town["server"], to: town[target])
    }

    @Test func eachPartThatAServerHadIsDemanded() async throws {
        try await Town.with { town in
            try await town.serving { _ in }
            for (number, part) in Self.parts.enumerated() {
                for isEmptied in [false, true] {
                    let data = "lost\(number)\(isEmptied)"
                    try copy(town, to: data)
                    if isEmptied {
                        try town.write([], to: "\(data)/\(part)")
                    } else {
                        try FileManager.default.removeItem(at: town["\(data)/\(part)"])
                    }
                    let checked = try await town.signetd("check", "--data", data)
                    expect(65, checked, part)
                    #expect(checked.output.contains("and this directory had it: \(part)"), "\(checked.output)")
                    let started = try await run(town, data)
                    expect(65, started, part)
                    let advice =
                        part.hasSuffix(".key") ? "signetd rotate login-key" : "take its line out of records/parts"
                    #expect(started.complaint.contains(advice), "\(started.errors)")
                    #expect(town.exists("\(data)/\(part)") == isEmptied, "nothing was made anew")
                    let backup = try await town.signetd("backup", "--data", data, "--to", "backup-\(data)")
                    expect(65, backup, "a backup of it would take the place of a good one")
                    let moved = try await move(town, data)
                    expect(65, moved, part)
                    #expect(moved.complaint.contains("and this directory had it: \(part)"), "\(moved.errors)")
                }
            }
        }
    }

    /// A list that says nothing would let each part that is lost go.
    @Test func aDamagedListIsAFault_andNothingIsMadeInThePlaceOfWhatItNamed() async throws {
        try await Town.with { town in
            try await town.serving { _ in }
            let list = try town.bytes("server/records/parts")
            try FileManager.default.moveItem(at: town["server/recovery.sqlite"], to: town["recovery"])
            for damaged in [[], [0, 255, 10], list.dropLast(), list + [0x20, 10]] as [[UInt8]] {
                try town.write(damaged, to: "server/records/parts")
                let checked = try await town.signetd("check", "--data", "server")
                expect(65, checked)
                #expect(checked.output.contains("records/parts is damaged: restore it"), "\(checked.output)")
                expect(65, try await town.signetd("backup", "--data", "server", "--to", "backup"))
                let started = try await run(town, "server")
                expect(65, started)
                #expect(started.complaint.contains("write it anew: notes/notes.sqlite"), "\(started.errors)")
                #expect(!town.exists("server/recovery.sqlite"))
            }
            try FileManager.default.moveItem(at: town["recovery"], to: town["server/recovery.sqlite"])
            let names = ["notes/notes.sqlite", "notes/login.key", "recovery.sqlite", "signals.sqlite"]
            try town.write(names.map { $0 + "\n" }.joined().utf8, to: "server/records/parts")
            expect(0, try await town.signetd("check", "--data", "server"))
            try await town.serving { _ in }
        }
    }

    /// A server had written it, so this is no directory of before there were lists: a new one would let go of whatever is lost with it.
    @Test func aMissingListIsAFault_andNoneIsMadeOfWhatIsLeft() async throws {
        try await Town.with { town in
            try await town.serving { _ in }
            let list = try town.bytes("server/records/parts")
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            expect(0, try await town.signetd("restore", "--from", "backup", "--data", "restored"))
            try FileManager.default.moveItem(at: town["server/recovery.sqlite"], to: town["recovery"])
            for data in ["server", "restored"] {
                try FileManager.default.removeItem(at: town["\(data)/records/parts"])
                let checked = try await town.signetd("check", "--data", data)
                expect(65, checked, data)
                #expect(checked.output.contains("records/parts is missing: restore it"), "\(checked.output)")
            }
            let backup = try await town.signetd("backup", "--data", "server", "--to", "next")
            expect(65, backup, "a backup of it would take the place of a good one")
            for refused in [try await run(town, "server"), try await move(town, "server")] {
                expect(65, refused)
                #expect(refused.complaint.contains("write it anew: notes/notes.sqlite"), "\(refused.errors)")
            }
            #expect(!town.exists("server/records/parts") && !town.exists("server/recovery.sqlite"))

            try FileManager.default.moveItem(at: town["recovery"], to: town["server/recovery.sqlite"])
            try town.write(list, to: "server/records/parts")
            expect(0, try await town.signetd("check", "--data", "server"))
            try await town.serving { _ in }
        }
    }

    @Test func anOperatorWhoHasNoCopyCanGoOnWithoutIt() async throws {
        try await Town.with { town in
            try await town.serving { _ in }
            try FileManager.default.removeItem(at: town["server/recovery.sqlite"])
            let lines = String(decoding: try town.bytes("server/records/parts"), as: UTF8.self)
            try town.write(lines.replacing("recovery.sqlite\n", with: "").utf8, to: "server/records/parts")
            try await town.serving { _ in }
            #expect(town.exists("server/recovery.sqlite"))
            #expect(String(decoding: try town.bytes("server/records/parts"), as: UTF8.self).contains("recovery.sqlite"))
        }
    }

    @Test func aBackupWithoutItsSecretsLacksNothing() async throws {
        try await Town.with { town in
            try await town.serving { _ in }
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup", "--secrets", "secrets"))
            expect(0, try await town.signetd("check", "--data", "backup"))
            expect(
                0, try await town.signetd("restore", "--from", "backup", "--secrets", "secrets", "--data", "restored"))
            #expect(town.exists("restored/records/parts"))
        }
    }

    /// The successor takes the parts, and a handover that is repeated does not miss them in the log that ended.
    @Test func aSuccessorHasTheParts() async throws {
        try await Town.with { town in
            try await town.serving { _ in }
            expect(
                0,
                try await town.signetd("succeed", "--from", "server", "--data", "next", "--origin", "example.org/next"))
            #expect(town.exists("next/recovery.sqlite"))
            let ended = try await run(town, "server")
            #expect(ended.complaint.contains("this log has ended"), "\(ended.errors)")
            expect(0, try await town.signetd("check", "--data", "next"))
        }
    }
}
