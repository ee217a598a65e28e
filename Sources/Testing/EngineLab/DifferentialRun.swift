// SPDX-License-Identifier: Apache-2.0

package import SeededRandomness

/// The same random operations on two subjects, whose answers and whose whole contents must be alike.
///
/// The operations may be statements of SQL on two engines, or calls of a store that stands on each.
package struct DifferentialRun<Operation: Sendable>: Sendable {
    /// Where the two subjects parted.
    package struct Difference: Error, CustomStringConvertible {
        package let seed: UInt64
        package let step: Int
        package let operation: Operation?
        package let answers: [String]

        package var description: String {
            "seed \(seed), step \(step), \(operation.map { "\($0)" } ?? "contents"): \(answers)"
        }
    }

    /// A subject: how it does an operation, and what it holds. Errors are answers too: the subject says in its own words which are alike.
    package struct Subject: Sendable {
        let perform: @Sendable (Operation) async throws -> String
        let contents: @Sendable () async throws -> String

        package init(
            perform: @escaping @Sendable (Operation) async throws -> String,
            contents: @escaping @Sendable () async throws -> String
        ) {
            self.perform = perform
            self.contents = contents
        }
    }

    private let operation: @Sendable (inout SeededGenerator) -> Operation

    /// - Parameter operation: makes an operation.
    package init(_ operation: @escaping @Sendable (inout SeededGenerator) -> Operation) { self.operation = operation }

    /// Runs operations on both, and compares the contents after every hundredth and after the last.
    ///
    /// - Throws: ``Difference``, or what a subject throws.
    package func run(seed: UInt64, steps: Int, _ first: Subject, _ second: Subject) async throws {
        var generator = SeededGenerator(seed: seed)
        for step in 1...steps {
            let operation = operation(&generator)
            let answers = [try await first.perform(operation), try await second.perform(operation)]
            guard answers[0] == answers[1] else {
                throw Difference(seed: seed, step: step, operation: operation, answers: answers)
            }
            guard step % 100 == 0 || step == steps else { continue }
            let contents = [try await first.contents(), try await second.contents()]
            guard contents[0] == contents[1] else {
                throw Difference(seed: seed, step: step, operation: nil, answers: contents)
            }
        }
    }
}
