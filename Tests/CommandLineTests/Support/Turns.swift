// SPDX-License-Identifier: Apache-2.0

/// Puts the first requests of two clients in a given order; later ones run freely, as do those after the other client
/// has ended.
actor Turns {
    private var order: ArraySlice<Int>
    private var ended: Set<Int> = []
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]

    init(_ order: [Int]) { self.order = order[...] }

    func wait(_ number: Int) async {
        guard let next, next != number else { return take() }
        await withCheckedContinuation { waiting[number] = $0 }
    }

    func end(_ number: Int) {
        ended.insert(number)
        wake()
    }

    /// The number of the client whose turn it is; nil if either may continue.
    private var next: Int? { order.first { !ended.contains($0) } }

    private func take() {
        order = order.drop { ended.contains($0) }.dropFirst()
        wake()
    }

    private func wake() {
        for (number, continuation) in waiting where next == nil || next == number {
            waiting[number] = nil
            order = order.drop { ended.contains($0) }.dropFirst()
            return continuation.resume()
        }
    }
}
