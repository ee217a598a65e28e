// SPDX-License-Identifier: Apache-2.0

import BenchBaseline
import Foundation
import SignetServer

/// A log and a directory on engines that several machines share, for `Benchmarks/shared.py`.
///
///     shared-bench frames FOLDER DATABASE OBJECTS BUCKET     the log alone; FOLDER has keys/objects
///     shared-bench front FOLDER                              a front end without a network, of a data directory that was moved
///     shared-bench baseline FOLDER PORT                      one bare JSON route of Hummingbird, under the same certificate
///
/// The first two do one thing for each line of standard input, say what it took in a line that begins with COUNTED, and end with the input.
@main struct SharedBench {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "frames" where arguments.count == 5:
            let bench = try await FrameBench(
                folder: arguments[1], database: arguments[2], objects: arguments[3], bucket: arguments[4])
            try await eachLine { try await bench.answer($0) }
        case "front" where arguments.count == 2:
            let bench = try await FrontEndBench(folder: arguments[1])
            try await eachLine { try await bench.answer($0) }
        case "baseline" where arguments.count == 3:
            guard let port = Int(arguments[2]) else { throw Usage() }
            try await Baseline(identity: DataDirectory(path: arguments[1])).serve(port: port)
        default: throw Usage()
        }
    }

    /// - Parameter answer: gets the words of a line; what it returns is printed.
    private static func eachLine(_ answer: @Sendable ([Substring]) async throws -> [Double]) async throws {
        say("listening")
        while let line = readLine() {
            let figures = try await answer(line.split(separator: " "))
            say("COUNTED " + figures.map { "\($0)" }.joined(separator: " "))
        }
        exit(0)
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

/// The arguments or a line are not understood: the comments say what they may be.
struct Usage: Error {}
