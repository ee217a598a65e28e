// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import ProcessTesting
import Testing

/// Keys can be changed although notes have filled their share of the disk.
@Suite(.serialized) struct FullDiskTests {
    /// Mounting a small file system takes root; elsewhere this is skipped.
    private static let mayMount = getuid() == 0 && succeeds("/bin/sh", ["-c", "unshare -m true"])

    /// Of 96 MiB, 12 are reserved for the directory, and 11 are left.
    @Test(.enabled(if: mayMount, "mounting is not permitted here"), .timeLimit(.minutes(5)))
    func aDeviceCanBeRevokedWhenNotesFindNoRoom() async throws {
        try await Town.with { town in
            func shell(_ line: String) async throws -> Exit {
                try await Exit.of(URL(filePath: "/bin/sh"), ["-c", line], in: town.folder)
            }
            try await expect(
                0, shell("mkdir disk && mount -t tmpfs -o size=96m tmpfs disk && cp -a server disk/server"))
            defer { _ = succeeds("/bin/umount", ["-l", town["disk"].path()]) }
            try await town.serving(data: "disk/server") { _ in
                expect(0, try await town.signet("alice", "notes", "new", "Big", "text"))
                let fill = "free=$(df --output=avail -B1 disk | tail -1); head -c $((free - 11534336)) /dev/zero"
                try await expect(0, shell("head -c 12000000 /dev/urandom > big; \(fill) > disk/filler"))
                let attached = try await town.signet("alice", "notes", "attach", "Big", "big")
                #expect(attached.status != 0, "\(attached.output)")
                #expect(attached.complaint.contains("The server's disk is full"), "\(attached.errors)")
                let size = try await shell("du -sk disk/server/notes | cut -f 1")
                #expect((Int(size.lines.first ?? "") ?? .max) < 1000)
                expect(0, try await town.signet("bob", "devices", "revoke", "2"))
                expect(2, try await town.signet("alice", "lookup", Town.bob), "the device is gone, and alice is asked")
            }
        }
    }

    /// No file may grow, as on a disk that is full: nothing is left that is no key, and once there is room the same command makes one.
    @Test(arguments: [("log-key", "log.key.next"), ("shared-secret", "shared-secret")])
    func aKeyThatFindsNoRoomIsMadeLater(command: String, file: String) async throws {
        try await Town.with { town in
            let names = try town.contents("server").keys.sorted()
            // What it says goes through a pipe: it may be read from a file here, which could not grow either.
            let run = "trap '' XFSZ; ulimit -f 0; exec \"$0\" rotate \(command) --data server --announce"
            let line = "set -o pipefail; (\(run)) 2>&1 >/dev/null | cat >&2"
            let full = try await Exit.of(
                URL(filePath: "/bin/bash"), ["-c", line, Program.signetd.file.path()], in: town.folder)
            expect(74, full)
            #expect(full.complaint.contains("keys/\(file)") && full.complaint.contains("make room"), "\(full.errors)")
            #expect(try town.contents("server").keys.sorted() == names, "something is left")
            for _ in 0..<2 { expect(0, try await town.signetd("rotate", command, "--data", "server", "--announce")) }
            #expect(try !town.bytes("server/keys/\(file)").isEmpty)
        }
    }
}
