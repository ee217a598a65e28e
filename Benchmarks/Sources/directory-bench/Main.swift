// SPDX-License-Identifier: Apache-2.0

import BenchBaseline
import Foundation

/// A directory to put load on.
///
///     directory-bench make FOLDER ACCOUNTS     a new data directory with that many accounts, user0@example.org ...
///     directory-bench serve FOLDER PORT        the server of Signet, without rate limits
///     directory-bench register FOLDER PORT     40 clients of it that register one account after the other
///     directory-bench people FOLDER 0          people with friends and notes, at the server of FOLDER/directory.signet
///     directory-bench acquaint HOME COUNT      requests from the person of a home folder to so many of the accounts
///     directory-bench baseline FOLDER PORT     one bare JSON route of Hummingbird, under the same certificate
@main struct DirectoryBench {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 3, let number = Int(arguments[2]) else { throw Usage() }
        let bench = BenchDirectory(path: arguments[1])
        switch arguments[0] {
        case "make": try await bench.make(accounts: number)
        case "serve": try await bench.serve(port: number)
        case "register": try await Registrations(of: bench.data, port: number).run()
        case "people": try await Circle(folder: arguments[1]).run()
        case "acquaint": try await Acquaintances(home: arguments[1]).add(number)
        case "baseline": try await Baseline(identity: bench.data).serve(port: number)
        default: throw Usage()
        }
    }
}

/// The arguments are not understood: the comment above says what they may be.
struct Usage: Error {}
