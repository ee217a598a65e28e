// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Where clients reach the relays of call frames of all front ends: UDP ports at the host of the directory, in the same order at each.
struct RelayPorts: Hashable, Sendable {
    /// Each front end sends clients to its own.
    static let none = RelayPorts(numbers: [])

    let numbers: [UInt16]

    private init(numbers: [UInt16]) { self.numbers = numbers }

    /// Reads the numbers, with commas between them.
    ///
    /// - Throws: `ValidationError`.
    init(typed text: String) throws {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        numbers = words.compactMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt16($0) : nil }
        guard numbers.count == words.count, !numbers.contains(0), Set(numbers).count == numbers.count else {
            throw ValidationError("ports are numbers from 1 to 65535, each once, with commas between them")
        }
    }
}
