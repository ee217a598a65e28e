// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Commands of the lab. The programs of PostgreSQL refuse to run as root, so root runs them as the user `postgres`.
enum LabCommand {
    static func program(_ name: String) -> String { (PostgresLab.programs ?? "") + "/" + name }

    /// Runs a command to its end.
    ///
    /// - Returns: what it wrote to standard output.
    /// - Throws: ``PostgresLab/Failure`` with what it complained of.
    @discardableResult
    static func run(_ command: String, _ arguments: [String], asServer: Bool = false) throws -> String {
        let process = Process()
        let line = (asServer && getuid() == 0 ? drop : []) + [command] + arguments
        process.executableURL = URL(fileURLWithPath: line[0])
        process.arguments = Array(line.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: "/tmp")
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        // A server that is started inherits the pipe only if it has no log of its own; all of ours have.
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw PostgresLab.Failure(description: "\(line.joined(separator: " ")): \(text)")
        }
        return text
    }

    private static let drop = [
        "/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "/usr/bin/env", "HOME=/tmp",
    ]
}

/// A process beside this one that ends the servers of a lab and removes its folder when this one has ended, however it did.
struct LabWatch: Sendable {
    /// Kept open for the length of this process, and inherited by no other.
    private let held: Int32

    init(over folder: String) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0, fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0, fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0
        else { throw PostgresLab.Failure(description: "no pipe") }
        held = ends[1]
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script, "sh", folder]
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    private static let script = """
        trap '' INT TERM HUP
        cat >/dev/null
        for file in "$1"/*/data/postmaster.pid; do
            read -r process <"$file" || continue
            kill -9 $(cat /proc/"$process"/task/*/children) "$process"
        done
        rm -rf "$1"
        """
}
