// SPDX-License-Identifier: Apache-2.0

/// What happens next: a heap by time, and by order of insertion among equals.
struct EventQueue<Event> {
    private var heap: [(time: UInt64, order: UInt64, event: Event)] = []
    private var count: UInt64 = 0

    mutating func insert(_ event: Event, at time: UInt64) {
        heap.append((time, count, event))
        count += 1
        var place = heap.count - 1
        while place > 0, isBefore(place, (place - 1) / 2) {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func next() -> (time: UInt64, event: Event)? {
        guard let first = heap.first else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while let child = smallerChild(of: place), isBefore(child, place) {
            heap.swapAt(place, child)
            place = child
        }
        return (first.time, first.event)
    }

    private func smallerChild(of place: Int) -> Int? {
        let left = 2 * place + 1
        guard left < heap.count else { return nil }
        return left + 1 < heap.count && isBefore(left + 1, left) ? left + 1 : left
    }

    private func isBefore(_ one: Int, _ other: Int) -> Bool {
        (heap[one].time, heap[one].order) < (heap[other].time, heap[other].order)
    }
}
