// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// What waits in inboxes, by the account that sent it.
struct Shelves: Sendable {
    private struct Shelf: Sendable {
        var byteCount = 0
        /// Whose inbox each signal is in, and its size.
        var signals: [UInt64: (recipient: CallDevice, byteCount: Int)] = [:]
    }

    private var shelves: [Int64: Shelf] = [:]
    private(set) var byteCount = 0
    private(set) var count = 0

    func byteCount(of account: Int64) -> Int { shelves[account]?.byteCount ?? 0 }
    func count(of account: Int64) -> Int { shelves[account]?.signals.count ?? 0 }

    /// The account of which most waits.
    var greediest: Int64? { shelves.max { ($0.value.byteCount, $1.key) < ($1.value.byteCount, $0.key) }?.key }

    /// The signals of an account, the oldest first, and whose inboxes they are in.
    func oldest(of account: Int64) -> [(number: UInt64, recipient: CallDevice)] {
        (shelves[account]?.signals ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value.recipient) }
    }

    mutating func put(_ signal: RelayedSignal, for recipient: CallDevice) {
        shelves[signal.account, default: Shelf()].signals[signal.number] = (recipient, signal.byteCount)
        shelves[signal.account]?.byteCount += signal.byteCount
        byteCount += signal.byteCount
        count += 1
    }

    mutating func take(_ signal: RelayedSignal) {
        guard let known = shelves[signal.account]?.signals.removeValue(forKey: signal.number) else { return }
        shelves[signal.account]?.byteCount -= known.byteCount
        byteCount -= known.byteCount
        count -= 1
        if shelves[signal.account]?.signals.isEmpty == true { shelves[signal.account] = nil }
    }
}
