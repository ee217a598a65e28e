// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// What waits for a device.
struct Inbox: Sendable {
    /// In the order of numbers.
    private(set) var waiting: [RelayedSignal] = []
    /// The subscription that empties it.
    var reader: SubscriptionKey?

    var isUnused: Bool { waiting.isEmpty && reader == nil }

    mutating func append(_ signal: RelayedSignal) { waiting.append(signal) }

    mutating func takeFirst() -> RelayedSignal? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// Puts back what was delivered and not dealt with.
    mutating func putBack(_ signals: [RelayedSignal]) {
        guard !signals.isEmpty else { return }
        waiting = (signals + waiting).sorted { $0.number < $1.number }
    }

    /// Makes room: takes out the oldest signal of the account that takes most of it.
    mutating func makeRoom() -> RelayedSignal? {
        let counts = waiting.reduce(into: [Int64: Int]()) { $0[$1.account, default: 0] += 1 }
        let greediest = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        return waiting.firstIndex { $0.account == greediest }.map { waiting.remove(at: $0) }
    }

    /// Takes out the signal of this number, unless it is on its way.
    mutating func take(_ number: UInt64) -> RelayedSignal? {
        waiting.firstIndex { $0.number == number }.map { waiting.remove(at: $0) }
    }

    /// Takes out what has waited too long.
    mutating func takeExpired(at date: UInt64) -> [RelayedSignal] {
        guard waiting.contains(where: { $0.expiresAt <= date }) else { return [] }
        let expired = waiting.filter { $0.expiresAt <= date }
        waiting.removeAll { $0.expiresAt <= date }
        return expired
    }
}
