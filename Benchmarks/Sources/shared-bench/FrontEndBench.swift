// SPDX-License-Identifier: Apache-2.0

import BenchPeople
import Foundation
import KeyDirectory
import Logging
import Measuring
import SharedLog
import SignetServer
import Synchronization

/// A front end of a shared directory and people who register at it, in one process: without TLS and HTTP. What the people do is done before
/// anything is measured.
final class FrontEndBench: Sendable {
    private let directory: Directory
    private let next = Mutex(0)

    init(folder: String) async throws {
        var logger = Logger(label: "shared-bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let data = DataDirectory(path: folder)
        guard let engines = try await SharedEngines.open(data) else { throw Usage() }
        let (stored, follower) = try await StoredDirectory.serve(data, engines, logger: logger) {}
        directory = stored.directory
        Task {
            await follower.run { fault in
                FileHandle.standardError.write(Data("shared-bench: \(fault)\n".utf8))
                return false
            }
        }
    }

    /// Lines: `register COUNT ATONCE`: registrations a second, microseconds of this process's processor time for one, and how many requests were
    /// refused and sent again. `steady COUNT RATE`, so many
    /// a second whatever comes back: 50, 90, 99 % of the receipts within so many seconds, the
    /// longest, and how many requests were refused and sent again.
    func answer(_ words: [Substring]) async throws -> [Double] {
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard numbers.count == 2 else { throw Usage() }
        let first = next.withLock { next in
            defer { next += numbers[0] }
            return next
        }
        let made = try await Prepared.registrations(
            of: first..<first + numbers[0], for: directory, at: UInt64(Date().timeIntervalSince1970))
        switch words.first {
        case "register":
            let start = (wallTime(), processTime())
            let refused = try await send(made, atOnce: numbers[1])
            let (wall, processor) = (wallTime() - start.0, processTime() - start.1)
            return [Double(numbers[0]) / wall * 1e9, processor / Double(numbers[0]) / 1e3, Double(refused)]
        case "steady": return try await steadily(made, rate: numbers[1])
        default: throw Usage()
        }
    }

    /// As clients do that are told to try again.
    ///
    /// - Returns: how often one was told so.
    private func send(_ registrations: [PreparedRegistration], atOnce: Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<atOnce {
                group.addTask { [directory] in
                    var refused = 0
                    for place in stride(from: worker, to: registrations.count, by: atOnce) {
                        refused += try await Self.insist(on: registrations[place], at: directory)
                    }
                    return refused
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private static func insist(on registration: PreparedRegistration, at directory: Directory) async throws -> Int {
        for refused in 0..<100 {
            do {
                try await registration.send(to: directory)
                return refused
            } catch { continue }
        }
        throw Usage()
    }

    private func steadily(_ registrations: [PreparedRegistration], rate: Int) async throws -> [Double] {
        let start = ContinuousClock.now
        let answers = try await withThrowingTaskGroup(of: (time: Double, refused: Int).self) { group in
            for (place, registration) in registrations.enumerated() {
                group.addTask { [directory] in
                    try await Task.sleep(until: start + .seconds(1) * place / rate)
                    let begun = wallTime()
                    let refused = try await Self.insist(on: registration, at: directory)
                    return ((wallTime() - begun) / 1e9, refused)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let times = answers.map(\.time).sorted()
        let shares = [0.5, 0.9, 0.99, 1].map { times[Int((Double(times.count - 1) * $0).rounded())] }
        return shares + [Double(answers.reduce(0) { $0 + $1.refused })]
    }
}
