// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import Measuring

/// How long a directory takes to open, and how much memory it then holds.
///
///     start-bench fill FOLDER LABELS    a new data directory whose log has that many labels, one device and one state each
///     start-bench open FOLDER           opens it as the server does, and prints what that took
///     start-bench shared FOLDER LABELS  a log that several processes share, in a new folder, on a PostgreSQL that is started for it: prints
///                                       what take-overs and starts of front ends took
///
/// The log is real in every byte. The database knows no account, since the start reads none of those that it has compared
/// with the log before.
@main struct StartBench {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "fill" where arguments.count == 3:
            guard let labels = UInt64(arguments[2]) else { throw Usage() }
            try await FilledDirectory(path: arguments[1]).fill(labels)
        case "open" where arguments.count == 2:
            try await FilledDirectory(path: arguments[1]).reportStart()
        case "shared" where arguments.count == 3:
            guard let labels = UInt64(arguments[2]), labels > 0 else { throw Usage() }
            guard PostgresLab.isPresent else {
                Report.title("A shared log with \(labels) labels")
                return Report.note("not measured: there is no PostgreSQL 15 here")
            }
            let shared = try SharedLogStart(folder: arguments[1])
            defer { shared.end() }
            try await shared.measure(labels)
        default: throw Usage()
        }
    }
}

/// The arguments are not understood: the comment above says what they may be.
struct Usage: Error {}
