// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogWitness
import SignetServer
import TransparencyLog

/// The real `signetd witness run` as a process of its own.
final class WitnessProcess: Sendable {
    /// How a process ended.
    struct End: Sendable {
        let status: Int32
        let wasKilled: Bool
        let complaints: String
    }

    private let output: AsyncStream<String>
    private let end: Task<End, Never>
    private let identifier: Int32

    /// Where the build put it: beside the tests.
    private static let executable = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(component: "signetd").path

    /// Starts a witness on any port; `wrapper` is a command that is given signetd's command line.
    init(_ data: WitnessDirectory, isPlain: Bool = true, wrapper: [String] = []) throws {
        let process = Process()
        let command =
            wrapper + [Self.executable, "witness", "run", "--data", data.path, "--bind", "127.0.0.1:0", "--rate", "0"]
            + (isPlain ? ["--plain-http"] : [])
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        let (out, complaints) = (Pipe(), Pipe())
        process.standardOutput = out
        process.standardError = complaints
        let (ends, reportEnd) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in reportEnd.finish() }
        try process.run()
        identifier = process.processIdentifier
        output = Self.texts(of: out)
        let ended = process
        end = Task.detached {
            var text = ""
            for await part in Self.texts(of: complaints) { text += part }
            for await _ in ends {}
            return End(
                status: ended.terminationStatus, wasKilled: ended.terminationReason == .uncaughtSignal,
                complaints: text)
        }
    }

    /// What comes out of a pipe, to its end, read by a thread of its own.
    private static func texts(of pipe: Pipe) -> AsyncStream<String> {
        let (texts, report) = AsyncStream.makeStream(of: String.self)
        let descriptor = dup(pipe.fileHandleForReading.fileDescriptor)
        // Foundation would keep this one for the length of the test run.
        try? pipe.fileHandleForReading.close()
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                report.yield(String(decoding: buffer[..<count], as: UTF8.self))
            }
            close(descriptor)
            report.finish()
        }
        return texts
    }

    /// The port, once it listens; nil if it ends before.
    func port() async -> Int? {
        var text = ""
        for await part in output {
            text += part
            guard text.hasSuffix("\n") else { continue }
            return text.split(separator: ":").last.flatMap { Int($0.dropLast()) }
        }
        return nil
    }

    func signal(_ number: Int32) { kill(identifier, number) }

    /// Waits for the end.
    func ended() async -> End { await end.value }
}

/// Makes the data directory of a witness that serves a log and speaks plain HTTP.
@discardableResult func setUpWitness(
    _ data: WitnessDirectory, for log: TestLog, name: String = "witness.example/w0",
    tls: DirectorySetup.TLSSource? = nil
) throws -> VerifierKey {
    let key = try WitnessSetup(name: KeyName(Array(name.utf8)), tls: tls).make(data, at: currentTime())
    try StoredWitness(data).add([.init(key: log.key)])
    return key
}

/// A policy of one log whose quorum is `rule`, with these witnesses as `w0`, `w1`, ….
func policy(_ log: TestLog, _ witnesses: [(key: VerifierKey, url: [UInt8]?)], _ rule: String) throws -> Policy {
    var text = Array("log ".utf8) + log.key.encoded + [0x0A]
    for (number, witness) in witnesses.enumerated() {
        text += Array("witness w\(number) ".utf8) + witness.key.encoded
        if let url = witness.url { text += [0x20] + url }
        text += [0x0A]
    }
    return try Policy(decoding: text + Array(rule.utf8))
}

func localURL(_ port: Int, _ scheme: String = "http") -> [UInt8] { Array("\(scheme)://127.0.0.1:\(port)".utf8) }
