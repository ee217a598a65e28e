// SPDX-License-Identifier: Apache-2.0

/// A dictionary of bounded size that forgets the entry that was not touched for longest.
package struct RecencyTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        var key: Key
        var value: Value
        var newer: Int
        var older: Int
    }

    private static var none: Int { -1 }

    private let capacity: Int
    private var places: [Key: Int] = [:]
    private var slots: [Slot] = []
    private var newest = Self.none
    private var oldest = Self.none

    /// An empty table for at most `capacity` entries; at least one.
    package init(capacity: Int) { self.capacity = max(1, capacity) }

    /// The number of entries.
    package var count: Int { slots.count }

    /// Calls `body` with the entry of `key`, made from `initial` if there is none, and counts it as touched.
    package mutating func withValue<R>(of key: Key, initial: Value, _ body: (inout Value) -> R) -> R {
        let place: Int
        if let known = places[key] {
            place = known
            unlink(place)
        } else {
            place = takeSlot(for: key, initial)
            places[key] = place
        }
        linkAsNewest(place)
        return body(&slots[place].value)
    }

    /// The entry of `key`, which does not count as touched.
    package func value(of key: Key) -> Value? { places[key].map { slots[$0].value } }

    private mutating func takeSlot(for key: Key, _ value: Value) -> Int {
        let slot = Slot(key: key, value: value, newer: Self.none, older: Self.none)
        guard slots.count == capacity else {
            slots.append(slot)
            return slots.count - 1
        }
        let place = oldest
        unlink(place)
        places[slots[place].key] = nil
        slots[place] = slot
        return place
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (slots[place].newer, slots[place].older)
        if newer == Self.none { newest = older } else { slots[newer].older = older }
        if older == Self.none { oldest = newer } else { slots[older].newer = newer }
    }

    private mutating func linkAsNewest(_ place: Int) {
        slots[place].newer = Self.none
        slots[place].older = newest
        if newest == Self.none { oldest = place } else { slots[newest].newer = place }
        newest = place
    }
}
