// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProcessTesting
import SignetAPI
import SignetServer
import Testing

/// A disk that is full and a disk that fails, under the real `signetd`.
@Suite(.serialized) struct DiskTests {
    /// Mounting a small file system takes root, strace takes the right to trace; elsewhere these tests are skipped.
    private static let mayMount = getuid() == 0 && succeeds("/bin/sh", ["-c", "unshare -m true"])
    private static let mayTrace = succeeds("/bin/sh", ["-c", "strace -o /dev/null true"])

    @Test(.enabled(if: mayMount, "mounting is not permitted here"), .timeLimit(.minutes(5)))
    func aFullDiskStopsTheServerOrRefusesRequests_andLosesNoRegistration() async throws {
        try await withDataDirectory { data in
            let disk = data.path + "-disk"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            try #require(succeeds("/bin/mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", disk]))
            defer { _ = succeeds("/bin/umount", ["-l", disk]) }
            let small = DataDirectory(path: disk + "/data")
            let profile = try await setup().make(small, at: TestPerson.now)
            let witnessed = Witnessed(profile)
            let end = try await fill(small, witnessed, disk)
            if let end {
                #expect(end.status == 74 && !end.wasKilled)
                #expect(end.complaints.contains("the disk failed under the log; nothing acknowledged is lost"))
            }
            #expect(witnessed.acknowledgedCount > 0)
            let outcome = end?.lastComplaint ?? "refused with 503 until there was room"
            print("full disk: after \(witnessed.acknowledgedCount) registrations; \(outcome)")
            try FileManager.default.removeItem(atPath: disk + "/filler")
            try await checkAfterRestart(small, witnessed)
        }
    }

    @Test(
        .enabled(if: mayTrace, "strace is missing or not permitted here"), .timeLimit(.minutes(5)),
        arguments: [
            "fdatasync:error=EIO:when=3+", "fdatasync:error=EIO:when=6+", "fdatasync:error=EIO:when=9",
            "fdatasync:error=EIO:when=12", "fsync,fdatasync:error=EIO:when=15+", "pwrite64:error=EIO:when=40+",
            "pwrite64:error=EIO:when=150+",
        ])
    func aFailingDiskStopsTheServer_andLosesNoRegistration(_ fault: String) async throws {
        try await withDataDirectory { data in
            let witnessed = Witnessed(try StoredDirectory.readProfile(data))
            let daemon = try Daemon(
                data, wrapper: ["/usr/bin/strace", "-f", "-qqq", "-o", "/dev/null", "-e", "inject=\(fault)"])
            if let port = await daemon.port() {
                let client = TestClient(port: port, root: witnessed.profile.tlsRoot)
                _ = await witnessed.register("person", at: client, atMost: 60)
            }
            let end = await daemon.ended()
            #expect(end.status == 74 && !end.wasKilled, "\(end)")
            #expect(end.complaints.contains("signetd: the d"), "\(end)")
            print("\(fault): stopped after \(witnessed.acknowledgedCount) registrations; \(end.lastComplaint)")
            try await checkAfterRestart(data, witnessed)
        }
    }

    /// Registers until the disk is full; nil if the server still runs and was stopped by us.
    private func fill(_ data: DataDirectory, _ witnessed: Witnessed, _ disk: String) async throws -> Daemon.End? {
        let daemon = try Daemon(data)
        let port = try #require(await daemon.port())
        let client = TestClient(port: port, root: witnessed.profile.tlsRoot)
        _ = await witnessed.register("before", at: client, atMost: 5)
        // Fills the disk, except for half a megabyte.
        let filler = "\(disk)/filler"
        _ = succeeds("/bin/sh", ["-c", "dd if=/dev/zero of=\(filler) bs=64k; truncate -s -512k \(filler)"])
        let status = await witnessed.register("during", at: client, atMost: 2000)
        // A server that has just stopped lets the connection fall.
        guard status == 503, (try? await client.get("/health"))?.status == 200 else { return await daemon.ended() }
        daemon.signal(SIGTERM)
        #expect(await daemon.ended().status == 0)
        return nil
    }

    private func checkAfterRestart(_ data: DataDirectory, _ witnessed: Witnessed) async throws {
        let daemon = try Daemon(data)
        let port = try #require(await daemon.port(), "signetd did not start again")
        let client = TestClient(port: port, root: witnessed.profile.tlsRoot)
        try await witnessed.check(everyone: true, at: client)
        try await witnessed.checkHistory(at: client)
        #expect(await witnessed.register("after", at: client, atMost: 1) == 200)
        daemon.signal(SIGTERM)
        #expect(await daemon.ended().status == 0)
    }
}
