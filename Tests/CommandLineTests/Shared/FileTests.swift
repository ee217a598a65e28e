// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Damaged, wrong and missing files.
@Suite(.serialized) struct FileTests {
    // MARK: Proofs

    private static func withProofs(_ body: (Town) async throws -> Void) async throws {
        try await Town.with { town in
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "lookup", Town.bob, "--save-proof", "proofs"))
            }
            try await body(town)
        }
    }

    private static func verify(
        _ town: Town, proof: String = "proofs/account.tlog-proof", policy: String = "proofs/policy",
        entry: String = "proofs/account.entry"
    ) async throws -> Exit {
        try await town.signet(["proof", "verify", proof, "--policy", policy, "--entry", entry, "--json"])
    }

    @Test func savedProofsVerifyWithoutServerAndHome() async throws {
        try await Self.withProofs { town in
            let exit = try await Self.verify(town)
            expect(0, exit)
            #expect(try exit.keys() == ["index", "origin", "size", "valid", "witnesses"])
            #expect(try exit.object()["valid"] as? Bool == true)
            #expect(try await Self.verify(town).output == exit.output)
            try town.write("kt-state/v1\n".utf8, to: "proofs/other.entry")
            let other = try await Self.verify(town, entry: "proofs/other.entry")
            expect(1, other, "another entry")
            #expect(try other.object()["valid"] as? Bool == false)
        }
    }

    /// The `extra` line of a proof is a remark that the log does not cover.
    @Test func aProofOrAnEntryWithOneFlippedBitIsRefused() async throws {
        try await Self.withProofs { town in
            try town.edit("proofs/account.tlog-proof") { $0.replacing(/\nextra .*\n/, with: "\n") }
            for file in ["proofs/account.tlog-proof", "proofs/account.entry"] {
                let bytes = try town.bytes(file)
                for step in 0..<8 {
                    var altered = bytes
                    altered[step * (bytes.count - 1) / 7] ^= 1 << UInt8(step % 7)
                    try town.write(altered, to: "altered")
                    let exit =
                        file.hasSuffix("entry")
                        ? try await Self.verify(town, entry: "altered") : try await Self.verify(town, proof: "altered")
                    expect(1, exit, "bit \(step) of \(file)")
                    #expect(try exit.keys() == ["reason", "valid"])
                }
            }
        }
    }

    @Test func aPolicyWithOneFlippedBitIsRefused() async throws {
        try await Self.withProofs { town in
            let bytes = try town.bytes("proofs/policy")
            for step in 0..<8 {
                var altered = bytes
                altered[step * (bytes.count - 1) / 7] ^= 1 << UInt8(step % 7)
                try town.write(altered, to: "altered")
                let exit = try await Self.verify(town, policy: "altered")
                #expect([1, 65].contains(exit.status), "bit \(step): \(exit.output) \(exit.errors)")
            }
        }
    }

    @Test func missingAndWrongFilesAreReported() async throws {
        try await Self.withProofs { town in
            let other = ["init", "--data", "o", "--origin", "other.org/x", "--url", "https://localhost"]
            expect(0, try await Program.signetd.run(other, in: town.folder))
            let policy = try town.bytes("o/directory.signet").split(separator: 10, omittingEmptySubsequences: false)
                .drop { !$0.isEmpty }.dropFirst().joined(separator: [10])
            try town.write(policy, to: "other.policy")
            try town.write([], to: "empty")
            let cases: [(Int32, Exit, String)] = [
                (65, try await Self.verify(town, proof: "missing"), "There is no file missing."),
                (65, try await Self.verify(town, entry: "missing"), "There is no file missing."),
                (65, try await Self.verify(town, policy: "missing"), "There is no file missing."),
                (65, try await Self.verify(town, proof: "proofs"), "proofs is a folder."),
                (65, try await Self.verify(town, policy: "proofs"), "proofs is a folder."),
                (65, try await Self.verify(town, entry: "proofs"), "proofs is a folder."),
                (65, try await Self.verify(town, proof: "empty/x"), "empty/x is a file, or part of the path to it is."),
                (65, try await Self.verify(town, proof: "/dev/zero"), "is longer than"),
                (65, try await Self.verify(town, entry: "/dev/zero"), "is longer than"),
                (1, try await Self.verify(town, policy: "other.policy"), "The policy does not name this log."),
                (65, try await Self.verify(town, policy: "proofs/account.tlog-proof"), "is not a policy"),
                (1, try await Self.verify(town, proof: "empty"), "it ends too early"),
                (1, try await Self.verify(town, proof: "proofs/policy"), "its first line is not the expected one"),
                (1, try await Self.verify(town, entry: "empty"), "is not where the proof says it is"),
            ]
            for (status, exit, words) in cases {
                expect(status, exit, words)
                #expect(exit.complaint.contains(words))
            }
            expect(64, try await town.signet(["proof", "verify", "proofs/account.tlog-proof"]))
        }
    }

    @Test func proofsAreNotSavedOverAFile() async throws {
        try await Town.withServer { town, _ in
            try town.write([1], to: "file")
            expect(65, try await town.signet("alice", "lookup", Town.bob, "--save-proof", "file"))
            expect(65, try await town.signet("alice", "lookup", Town.bob, "--save-proof", "nowhere/proofs"))
            #expect(try town.bytes("file") == [1])
        }
    }

    // MARK: The home folder

    private static let lookup = ["lookup", Town.bob, "--home", "alice", "--json"]

    @Test func aDamagedKeystoreIsRefusedAndNotChanged() async throws {
        try await Town.withServer { town, _ in
            let good = try town.bytes("alice/keystore")
            let damaged: [(String, [UInt8])] = [
                ("empty", []), ("cut short", Array(good.dropLast())), ("cut in half", Array(good.prefix(700))),
                ("longer", good + [0]), ("garbage", good.map { _ in .random(in: 0...255) }),
                ("endless", Array(repeating: 7, count: 5000)),
            ]
            for (name, bytes) in damaged {
                try town.write(bytes, to: "alice/keystore")
                let exit = try await town.signet(Self.lookup)
                expect(65, exit, name)
                #expect(exit.complaint.contains("alice/keystore"))
                let create = ["--home", "alice", "account", "create", Town.alice, "--directory", town.profile.path()]
                expect(65, try await town.signet(create), name)
                #expect(try town.bytes("alice/keystore") == bytes, "\(name)")
            }
            var cheap = good
            cheap.replaceSubrange(19..<27, with: [0, 0, 0, 1, 0, 0, 0, 8])
            var dear = good
            dear.replaceSubrange(19..<27, with: Array(repeating: 0xFF, count: 8))
            for (bytes, words) in [(cheap, "too easy to guess"), (dear, "more memory than any that signet makes")] {
                try town.write(bytes, to: "alice/keystore")
                let exit = try await town.signet("alice", "people", "list")
                expect(65, exit, words)
                #expect(exit.complaint.contains(words))
            }
            var altered = good
            altered[good.count - 1] ^= 1
            try town.write(altered, to: "alice/keystore")
            let exit = try await town.signet("alice", "people", "list")
            expect(65, exit, "one bit of the sealed part")
            #expect(exit.complaint.contains("there is no way to tell which"))
            try town.write(good, to: "alice/keystore")
            expect(0, try await town.signet("alice", "people", "list"))
        }
    }

    @Test func aDamagedStoreIsRefusedAndNotChanged() async throws {
        try await Town.withServer { town, _ in
            let good = try town.bytes("alice/store.sqlite")
            let damaged: [(String, [UInt8])] = [
                ("cut short", Array(good.prefix(5000))), ("header only", Array(good.prefix(100))),
                ("garbage", good.map { _ in .random(in: 0...255) }), ("text", Array("not a database".utf8)),
            ]
            for (name, bytes) in damaged {
                try town.write(bytes, to: "alice/store.sqlite")
                let exit = try await town.signet(Self.lookup)
                expect(65, exit, name)
                #expect(exit.complaint.contains("alice/store.sqlite is damaged"))
                #expect(try town.bytes("alice/store.sqlite") == bytes, "\(name)")
            }
            try town.write(good, to: "alice/store.sqlite")
            expect(0, try await town.signet(Self.lookup))
        }
    }

    @Test func filesThatOthersMayReadAreRefused() async throws {
        try await Town.withServer { town, _ in
            for (path, strict, loose) in [("alice", UInt16(0o700), UInt16(0o750)), ("alice/keystore", 0o600, 0o604)] {
                try town.chmod(path, loose)
                let exit = try await town.signet(Self.lookup)
                expect(65, exit, path)
                #expect(exit.complaint == "Other users of this machine may read \(path).")
                try town.chmod(path, strict)
            }
            expect(0, try await town.signet(Self.lookup))
            try town.write([], to: "file")
            expect(65, try await town.signet("file", "lookup", Town.bob, "--directory", town.profile.path()))
        }
    }
}
