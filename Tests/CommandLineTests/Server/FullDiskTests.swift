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
}
