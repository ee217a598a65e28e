// SPDX-License-Identifier: Apache-2.0

public import KeyDirectory

/// Registrations that are made before they are measured, and sent by many at once.
public enum Prepared {
    /// The registrations of people with numbers.
    public static func registrations(
        of numbers: Range<Int>, for directory: Directory, at now: UInt64
    ) async throws -> [PreparedRegistration] {
        let atOnce = 16
        return try await withThrowingTaskGroup(of: [PreparedRegistration].self) { group in
            for worker in 0..<atOnce {
                group.addTask {
                    var made: [PreparedRegistration] = []
                    for number in numbers.dropFirst(worker).enumerated() where number.offset % atOnce == 0 {
                        made.append(try await BenchPerson(number: number.element).prepare(for: directory, at: now))
                    }
                    return made
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Sends them, so many at once, and returns when all have their receipts.
    public static func send(
        _ registrations: [PreparedRegistration], to directory: Directory, atOnce: Int
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<atOnce {
                group.addTask {
                    for place in stride(from: worker, to: registrations.count, by: atOnce) {
                        try await registrations[place].send(to: directory)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
