// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import Dispatch
import Foundation
package import SecretMemory
package import SignetClient

/// Runs a program of the system: the way to services that have no library here.
package struct ToolRunner: Sendable {
    /// How a program ended.
    package struct Outcome: Sendable {
        package let status: Int32
        package var output: [UInt8]
        /// What it complained about; matched against words, never shown.
        package let complaints: String

        package init(status: Int32, output: [UInt8], complaints: String) {
            self.status = status
            self.output = output
            self.complaints = complaints
        }
    }

    /// Runs a program with arguments and standard input, and blocks until it ends; nil when this system has no such program.
    package let run: @Sendable (_ tool: String, _ arguments: [String], _ input: SecretBytes?) -> Outcome?

    package init(
        run: @escaping @Sendable (_ tool: String, _ arguments: [String], _ input: SecretBytes?) -> Outcome?
    ) { self.run = run }

    /// The programs on the `PATH`.
    ///
    /// - Parameters:
    ///   - environment: further variables.
    ///   - deadline: a program that has not ended after so many seconds is killed. A keyring may ask its user for a password meanwhile.
    package static func system(environment: [String: String] = [:], deadline: Double = 120) -> ToolRunner {
        ToolRunner { tool, arguments, input in
            find(tool).map { end(of: $0, arguments, input, environment, deadline) }
        }
    }

    /// Does what blocks on a thread of its own, so that the caller's task gives its thread away meanwhile.
    static func awaiting<Value: Sendable>(
        _ body: @escaping @Sendable () throws(PrivateKeyStoreError) -> Value
    ) async throws(PrivateKeyStoreError) -> Value {
        let result: Result<Value, PrivateKeyStoreError> = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do throws(PrivateKeyStoreError) { continuation.resume(returning: .success(try body())) } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    private static func find(_ tool: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { "\($0)/\(tool)" }.first { access($0, X_OK) == 0 }
    }

    private static func end(
        of path: String, _ arguments: [String], _ input: SecretBytes?, _ environment: [String: String],
        _ deadline: Double
    ) -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = inherited.merging(environment) { $1 }
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, stderr)
        do { try process.run() } catch { return Outcome(status: 127, output: [], complaints: "") }
        let end = DispatchWorkItem { [number = process.processIdentifier] in kill(number, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + deadline, execute: end)
        defer { end.cancel() }
        // Inputs are smaller than a pipe holds, so that they are written before the others are read.
        input?.withBytes { bytes in try? stdin.fileHandleForWriting.write(contentsOf: Data(bytes)) }
        try? stdin.fileHandleForWriting.close()
        // Both at once: a program that fills one pipe while only the other is read would wait forever.
        let complaints = Reading(stderr.fileHandleForReading)
        let output = Array(stdout.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: output,
            complaints: String(decoding: complaints.end(), as: UTF8.self))
    }

    /// What tools of the system need of our environment: no secret that is in it, and no variable that is not known.
    private static var inherited: [String: String] {
        let names = [
            "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS",
            "DISPLAY", "WAYLAND_DISPLAY", "TPM2TOOLS_TCTI", "LD_LIBRARY_PATH",
        ]
        return ProcessInfo.processInfo.environment.filter { names.contains($0.key) }
    }
}

/// Reads a pipe to its end on a thread of its own.
private final class Reading: @unchecked Sendable {
    // Written by that thread before it signals, read after.
    private var bytes = Data()
    private let done = DispatchSemaphore(value: 0)

    init(_ pipe: FileHandle) {
        Thread.detachNewThread { [self] in
            bytes = pipe.readDataToEndOfFile()
            done.signal()
        }
    }

    func end() -> Data {
        done.wait()
        return bytes
    }
}
