// SPDX-License-Identifier: Apache-2.0

/// Lets one task at a time into a stretch that waits, in the order in which they came. Belongs to one actor.
final class Turns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take(isolation: isolated (any Actor)? = #isolation) async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func give() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
