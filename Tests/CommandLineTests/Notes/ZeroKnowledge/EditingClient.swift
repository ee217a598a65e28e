// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A `signet notes edit` whose editor does not end.
final class EditingClient {
    private let process: Process
    private let ended: ProcessEnd
    private let pipes: [Pipe]

    var processIdentifier: Int32 { process.processIdentifier }

    /// Starts one, and waits until its editor runs.
    static func start(_ note: String, in town: Town, home: String) async throws -> EditingClient {
        try town.write("echo ready; cat >/dev/null\n".utf8, to: "editor.sh")
        let process = Process(
            Program.signet.file, ["notes", "edit", note, "--home", home], in: town.folder,
            environment: ["EDITOR": "sh \(town["editor.sh"].path())"])
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        let ended = ProcessEnd(of: process)
        try process.run()
        let client = EditingClient(process, ended, [input, output])
        let line = await withCheckedContinuation { continuation in
            let output = UncheckedBox(output.fileHandleForReading)
            Thread.detachNewThread { continuation.resume(returning: output.value.availableData) }
        }
        try #require(line == Data("ready\n".utf8), "\(String(decoding: line, as: UTF8.self))")
        return client
    }

    private init(_ process: Process, _ ended: ProcessEnd, _ pipes: [Pipe]) {
        self.process = process
        self.pipes = pipes
        self.ended = ended
    }

    /// Ends it by the signal on which it removes the file.
    func stop() async {
        process.terminate()
        await ended.wait()
        try? pipes[0].fileHandleForWriting.close()
        try? pipes[1].fileHandleForReading.close()
    }
}
