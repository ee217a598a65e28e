// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Platform
import SecretMemory
import Signet
import Synchronization

/// `signet agent`, which `signet unlock` starts: it reads the key from standard input, says that it is ready, and serves.
struct AgentProcess: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent", abstract: "Keep the key that 'signet unlock' hands over.", shouldDisplay: false)

    /// Why it cannot serve. Each is one line on its standard output, which `signet unlock` reads.
    enum Fault: String, Error, CaseIterable {
        case key, memory, inspection, folder, name, busy

        var sentence: Sentence {
            let remedy = "Nothing is unlocked: commands ask for the passphrase each time."
            return switch self {
            case .key: Sentence("The keys changed while they were unlocked.", "Try again.")
            case .memory:
                Sentence("This system lets signet keep no memory from being written to the disk (ulimit -l).", remedy)
            case .inspection:
                Sentence("This system does not keep other programs from reading signet's memory.", remedy)
            case .folder:
                Sentence(
                    "The folder of the socket is not of this user alone.",
                    "Take away the access of others to $XDG_RUNTIME_DIR/signet and to the home folder (chmod 700). "
                        + remedy)
            case .name:
                Sentence("The path of the socket is too long.", "Set XDG_RUNTIME_DIR to a shorter one. " + remedy)
            case .busy: Sentence("Another process keeps the socket.", "Run 'signet lock', then try again.")
            }
        }
    }

    private static let isStopped = Atomic(false)
    private static let ready = "ready"

    @Option var home: String
    @Option var seconds: UInt32

    func run() throws {
        do {
            try serve()
        } catch let fault as Fault { Output.exact(fault.rawValue) }
    }

    private func serve() throws {
        // What the caller had open would stay open for as long as the agent runs: whoever waits for its end would wait that long.
        closeInherited()
        setsid()
        chdir("/")
        let folder = HomeFolder(path: home)
        guard denyInspection() else { throw Fault.inspection }
        guard let key = Self.readKey() else { throw Fault.key }
        guard key.withBytes(keepInMemory) else { throw Fault.memory }
        // A clock that cannot be read ends it.
        let clock = { @Sendable () -> Double in Platform.seconds(of: CLOCK_BOOTTIME) ?? .infinity }
        guard let agent = KeyAgent(key, of: folder, until: clock() + Double(seconds), now: clock) else {
            throw Fault.key
        }
        let place = AgentPlace(of: folder, runtime: Environment.value("XDG_RUNTIME_DIR"))
        mkdir(place.folder, 0o700)
        guard place.isPrivate else { throw Fault.folder }
        guard place.path.utf8.count <= LocalSocket.maximumPathByteCount else { throw Fault.name }
        let lock = try Self.locked(place.lock)
        defer { close(lock) }
        unlink(place.path)
        guard let socket = LocalSocket.listening(at: place.path) else { throw Fault.busy }
        defer { unlink(place.path) }
        for number in [SIGTERM, SIGINT, SIGHUP] {
            signal(number) { _ in AgentProcess.isStopped.store(true, ordering: .relaxed) }
        }
        Self.unblockSignals()
        Output.exact(Self.ready)
        Self.leaveTerminal()
        while !agent.isOver, !Self.isStopped.load(ordering: .relaxed) {
            guard let caller = socket.caller(withinMilliseconds: 1000) else { continue }
            if agent.answer(caller) { break }
        }
    }

    private static func readKey() -> SecretBytes? {
        var isWhole = false
        let key = SecretBytes(count: KeyAgent.keyByteCount) { memory in
            var count = 0
            while count < memory.count {
                let got = read(STDIN_FILENO, memory.baseAddress?.advanced(by: count), memory.count - count)
                if got < 0 && errno == EINTR { continue }
                guard got > 0 else { return }
                count += got
            }
            isWhole = true
        }
        return isWhole ? key : nil
    }

    /// Waits for up to three seconds until an earlier agent has ended.
    private static func locked(_ path: String) throws -> Int32 {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Fault.folder }
        for _ in 0..<60 {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return file }
            usleep(50_000)
        }
        close(file)
        throw Fault.busy
    }

    /// A process inherits which signals do not reach it, and Foundation's threads keep most of them away.
    private static func unblockSignals() {
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
    }

    private static func leaveTerminal() {
        let nowhere = open("/dev/null", O_RDWR)
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { dup2(nowhere, stream) }
        if nowhere > STDERR_FILENO { close(nowhere) }
    }
}

extension AgentProcess {
    /// Starts the agent, gives it the key through a pipe, and waits until it serves.
    ///
    /// - Returns: the number of the process.
    static func start(with key: SecretBytes, of home: HomeFolder, seconds: UInt32) throws -> Int32 {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["agent", "--home", try path(of: home), "--seconds", "\(seconds)"]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch {
            throw CommandFailure(.environment, "signet cannot start a second process.", "Try again.")
        }
        try? input.fileHandleForReading.close()
        try? output.fileHandleForWriting.close()
        // A pipe takes so few bytes at once.
        _ = key.withBytes { write(input.fileHandleForWriting.fileDescriptor, $0.baseAddress, $0.count) }
        try? input.fileHandleForWriting.close()
        let said = try? output.fileHandleForReading.readToEnd()
        let word = String(decoding: said ?? Data(), as: UTF8.self).split(separator: "\n").first.map(String.init)
        guard word == ready else {
            let fault = word.flatMap(Fault.init) ?? .busy
            throw CommandFailure(.environment, fault.sentence)
        }
        return process.processIdentifier
    }

    /// The agent works in another folder.
    private static func path(of home: HomeFolder) throws -> String {
        guard let found = realpath(home.path, nil) else { throw CommandFailure(FileFault.notFound, path: home.path) }
        defer { free(found) }
        return String(cString: found)
    }
}
