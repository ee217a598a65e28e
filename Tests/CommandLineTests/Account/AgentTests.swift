// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import SecretMemory
import SignetClient
import Testing

/// `signet unlock` and `signet lock`: who gets what opens the keys, and until when.
@Suite(.serialized) struct AgentTests {
    private static let setsid = URL(filePath: "/usr/bin/setsid")
    private static let list = ["people", "list", "--offline"]

    /// Runs `signet` on alice's home without a passphrase, and without a terminal to ask at.
    private func unasked(_ town: Town, _ arguments: String...) async throws -> Exit {
        try await Exit.of(
            Self.setsid, ["--wait", Program.signet.file.path(), "--home", "alice"] + arguments, in: town.folder,
            environment: ["SIGNET_PASSPHRASE": "", "XDG_RUNTIME_DIR": town["run"].path()])
    }

    private func unlock(_ town: Town, for time: String = "15m") async throws -> Exit {
        try await town.signet(
            "alice", "unlock", "--for", time, "--json", environment: ["XDG_RUNTIME_DIR": town["run"].path()])
    }

    /// A town with a folder for sockets, and no agent after it.
    private func withTown(mode: UInt16 = 0o700, _ body: (Town) async throws -> Void) async throws {
        try await Town.withServer { town, _ in
            try FileManager.default.createDirectory(at: town["run"], withIntermediateDirectories: false)
            try town.chmod("run", mode)
            do { try await body(town) } catch {
                _ = try await unasked(town, "lock")
                throw error
            }
            _ = try await unasked(town, "lock")
        }
    }

    private func place(_ town: Town) -> AgentPlace {
        AgentPlace(of: HomeFolder(path: town["alice"].path()), runtime: town["run"].path())
    }

    /// Waits until no agent of alice's is running: each holds a lock.
    private func waitForEnd(_ town: Town) throws {
        let file = open(place(town).lock, O_RDWR | O_CREAT, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        while flock(file, LOCK_EX) != 0 { try #require(errno == EINTR) }
    }

    private func isRunning(_ exit: Exit) throws -> Bool {
        kill(try #require((try exit.object()["process"] as? NSNumber)?.int32Value), 0) == 0
    }

    @Test func aPassphraseIsAskedForOnce_andAgainAfterLock() async throws {
        try await withTown { town in
            expect(64, try await unasked(town, "people", "requests"))
            let unlocked = try await unlock(town)
            expect(0, unlocked)
            expect(0, try await unasked(town, "people", "requests"))
            expect(0, try await unasked(town, "notes", "new", "Title", "text"))
            let locked = try await unasked(town, "lock")
            #expect(locked.output.contains("Locked."), "\(locked.output) \(locked.errors)")
            expect(64, try await unasked(town, "people", "requests"))
            #expect(try await unasked(town, "lock").output.contains("It was not unlocked."))
        }
    }

    @Test func aWrongPassphraseUnlocksNothing() async throws {
        try await withTown { town in
            let exit = try await town.signet(
                "alice", "unlock", environment: ["SIGNET_PASSPHRASE": "wrong", "XDG_RUNTIME_DIR": town["run"].path()])
            expect(65, exit)
            #expect(!town.exists("run/signet"))
        }
    }

    /// The attack: a program of the user acts in the name of the identity while it is unlocked.
    @Test func whatIsDoneInTheNameOfTheIdentityIsAskedForAllTheSame() async throws {
        try await withTown { town in
            expect(0, try await unlock(town))
            for act in [["guardians", "withdraw"], ["devices", "revoke", "2"], ["recover", "stop"]] {
                let exit = try await unasked(town, act[0], act[1], act.count > 2 ? act[2] : "--json")
                expect(64, exit, "\(act)")
                #expect(exit.errors.contains("A passphrase is needed"), "\(exit.errors)")
            }
        }
    }

    /// The attack: another user can enter the folder, and puts a socket there or opens the agent's.
    @Test func aFolderThatOthersCanEnterIsNotUsed() async throws {
        try await withTown(mode: 0o755) { town in
            expect(0, try await unlock(town))
            #expect(!town.exists("run/signet"), "the socket is in the home")
            expect(0, try await unasked(town, "people", "requests"))
        }
        try await withTown { town in
            try FileManager.default.createDirectory(at: town["run/signet"], withIntermediateDirectories: false)
            try town.chmod("run/signet", 0o777)
            let exit = try await unlock(town)
            expect(3, exit)
            #expect(exit.complaint == "The folder of the socket is not of this user alone.", "\(exit.errors)")
            // An agent that served there would not be asked either.
            try town.chmod("run/signet", 0o700)
            expect(0, try await unlock(town))
            try town.chmod("run/signet", 0o755)
            expect(64, try await unasked(town, "people", "requests"))
            try town.chmod("run/signet", 0o700)
        }
    }

    @Test func theSocketIsOfThisUserAlone_andTheProcessKeepsNoPassphrase() async throws {
        try await withTown { town in
            let unlocked = try await unlock(town)
            let status = try #require(FileStatus(ofEntry: place(town).path))
            #expect(status.permissions == 0o600 && status.owner == geteuid())
            #expect(FileStatus(ofEntry: place(town).folder)?.permissions == 0o700)
            #if os(Linux)
                let process = try #require((try unlocked.object()["process"] as? NSNumber)?.int32Value)
                let facts = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
                let locked = try #require(facts.firstMatch(of: /VmLck:\s+(\d+) kB/)).1
                #expect(Int(locked) ?? 0 > 0, "the key is never written to the disk")
                for file in ["environ", "cmdline"] {
                    let bytes = try Data(contentsOf: URL(filePath: "/proc/\(process)/\(file)"))
                    #expect(!String(decoding: bytes, as: UTF8.self).contains(Program.passphrase))
                }
            #endif
        }
    }

    /// The keystore was replaced, or sealed again under another passphrase: what the old one gave opens nothing.
    @Test func anotherKeystoreEndsTheAgent() async throws {
        try await withTown { town in
            expect(0, try await unlock(town))
            let secrets = try Keystore(decoding: try town.bytes("alice/keystore"))
                .open(with: SecretBytes(copying: Program.passphrase.utf8))
            let again = try Keystore(sealing: secrets, under: SecretBytes(copying: "other words".utf8), cost: .minimum)
            try town.write(again.encoded, to: "alice/keystore")
            expect(64, try await unasked(town, "people", "requests"))
            try waitForEnd(town)
        }
    }

    @Test func aSecondUnlockReplacesTheFirst() async throws {
        try await withTown { town in
            let first = try await unlock(town)
            let second = try await unlock(town)
            expect(0, second)
            #expect(try isRunning(second))
            expect(0, try await unasked(town, "people", "requests"))
            #expect(try await unasked(town, "lock").output.contains("Locked."))
            expect(64, try await unasked(town, "people", "requests"))
            #expect(try first.object()["process"] as? Int != second.object()["process"] as? Int)
        }
    }

    /// The attack: a program puts its own socket in the place. It is sent nothing secret, and what it answers opens nothing; nil for
    /// one that says nothing and stays.
    @Test(arguments: [[1] + [UInt8](repeating: 0, count: 32), [1], [0], [], nil])
    func aSocketThatAnotherProgramPutThereGetsNothingAndGivesNothing(answer: [UInt8]?) async throws {
        try await withTown { town in
            let place = place(town)
            mkdir(place.folder, 0o700)
            let planted = try #require(PlantedSocket(at: place.path, answering: answer))
            let exit = try await unasked(town, "people", "requests")
            expect(64, exit)
            #expect(exit.errors.contains("A passphrase is needed"), "\(exit.errors)")
            #expect(planted.heard.starts(with: "signet-agent/v1\n\u{1}".utf8))
            #expect(planted.heard.count == 49, "the rest is the hash of a file that everyone may know")
        }
    }

    @Test func afterItsTimeAnAgentGivesNothing() throws {
        let folder = HomeFolder(path: try temporaryFolder().path())
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        try folder.keystore.create(Array("a keystore".utf8))
        let key = SecretBytes(count: 32) { $0.copyBytes(from: 1...32) }
        let start = 1000.0
        let agent = { (now: Double) throws -> KeyAgent in
            let made = KeyAgent(key, of: folder, until: start + 900, now: { now })
            return try #require(made)
        }
        #expect(try !agent(start + 899).isOver)
        #expect(try agent(start + 900).isOver)
        #expect(try agent(.infinity).isOver, "a clock that cannot be read")
        let place = AgentPlace(of: folder, runtime: nil)
        for (now, isGiven) in [(start + 899, true), (start + 900, false)] {
            unlink(place.path)
            guard let socket = LocalSocket.listening(at: place.path) else { throw CocoaError(.fileWriteUnknown) }
            let asked = AskedKey(of: folder)
            guard let caller = socket.caller(withinMilliseconds: 60_000) else { throw CocoaError(.fileReadUnknown) }
            let wantsEnd = try agent(now).answer(caller)
            #expect(!wantsEnd)
            #expect(asked.wasGiven == isGiven, "\(now)")
        }
        let holder = try agent(start)
        try folder.keystore.replace(with: Array("another keystore".utf8))
        #expect(holder.isOver)
        try FileManager.default.removeItem(atPath: folder.keystore.path)
        #expect(holder.isOver, "the home is gone")
    }

    @Test func aSignalEndsTheAgent_andTakesItsSocketAway() async throws {
        try await withTown { town in
            let unlocked = try await unlock(town)
            let process = try #require((try unlocked.object()["process"] as? NSNumber)?.int32Value)
            #expect(kill(process, SIGTERM) == 0)
            try waitForEnd(town)
            #expect(!DurableFile(path: place(town).path).exists)
            expect(64, try await unasked(town, "people", "requests"))
        }
    }
}

/// A socket in an agent's place, which answers one caller.
private final class PlantedSocket: @unchecked Sendable {
    private let socket: LocalSocket
    private let done = DispatchSemaphore(value: 0)
    private var bytes: [UInt8] = []

    init?(at path: String, answering answer: [UInt8]?) {
        guard let socket = LocalSocket.listening(at: path) else { return nil }
        self.socket = socket
        Thread.detachNewThread { [self] in
            serve(answer)
            done.signal()
        }
    }

    private func serve(_ answer: [UInt8]?) {
        guard let caller = socket.caller(withinMilliseconds: 60_000) else { return }
        var request = [UInt8](repeating: 0, count: 49)
        guard request.withUnsafeMutableBytes({ caller.fill($0) }) else { return }
        bytes = request
        if let answer { _ = answer.withUnsafeBytes { caller.send($0) } }
        // Nothing more comes: this waits until the caller has gone.
        var more: [UInt8] = [0]
        if answer == nil, more.withUnsafeMutableBytes({ caller.fill($0) }) { bytes += more }
    }

    /// What the caller sent, when it has gone.
    var heard: [UInt8] {
        done.wait()
        done.signal()
        return bytes
    }
}

/// A thread that asks the agent of a home for its key.
private final class AskedKey: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)
    private var key: SecretBytes?

    init(of folder: HomeFolder) {
        Thread.detachNewThread { [self] in
            key = AgentClient(of: folder, runtime: nil).key()
            done.signal()
        }
    }

    /// Whether the key came.
    var wasGiven: Bool {
        done.wait()
        done.signal()
        return key != nil
    }
}
