// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProcessTesting
import SignetServer

/// The real `signetd` as a process of its own.
final class RelayDaemon: Sendable {
    let port: Int
    private let process: DaemonProcess

    /// Starts it and waits until it listens.
    ///
    /// - Parameter port: 0 for any.
    init(_ data: DataDirectory, port: Int = 0) async throws {
        let process = try DaemonProcess(
            "signetd", ["run", "--data", data.path, "--bind", "127.0.0.1:\(port)", "--log-level", "critical"])
        guard let port = await process.port() else { throw NotListening() }
        (self.process, self.port) = (process, port)
    }

    struct NotListening: Error {}
    struct NotMeasured: Error {}

    /// The memory that it takes now, in bytes; ``peakMemory()`` counts from here.
    func memory() throws -> Int {
        // Without permission for this, the peak of its whole life counts, which is never less.
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/\(process.identifier)/clear_refs"))
        return try status("VmRSS")
    }

    /// The most that it took of memory, in bytes.
    func peakMemory() throws -> Int { try status("VmHWM") }

    private func status(_ name: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        guard let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) else {
            throw NotMeasured()
        }
        return kilobytes << 10
    }

    /// Kills it, and waits until it has ended.
    func kill() async {
        abandon()
        _ = await process.ended()
    }

    /// Kills it.
    func abandon() { process.signal(SIGKILL) }
}
