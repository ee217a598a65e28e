// SPDX-License-Identifier: Apache-2.0

import VerifiableMap

/// The labels of a log, each under a number: 0 for the first, and one more for each further label.
///
/// An open-addressing table of numbers beside the labels themselves: 44 bytes a label, and 4 for each of the 2^k places, of which at
/// most three quarters are used. Places are chosen with the process's random seed, so that no account can prepare labels that collide.
struct LabelTable: Sendable {
    /// What is known of a label besides its key.
    struct Label: Hashable, Sendable {
        /// The log index of its last entry; ``LabelHistories/none`` before the first.
        var last = UInt32.max
        /// The version of its last state record; 0 before the first.
        var version: UInt32 = 0
        /// Its account has been closed.
        var isClosed = false
        /// The epoch under way has an entry of it.
        var isTouched = false
        /// The epoch under way has a state record of it.
        var hasRecord = false
        /// Its last entry is a state record.
        var endsInRecord = false
        /// The index does not have its newest entries yet.
        var isUnsettled = false
    }

    private static let free = UInt32.max

    private(set) var keys: [MapKey] = []
    private var labels: [Label] = []
    private var places = [UInt32](repeating: free, count: 1024)

    var count: Int { keys.count }

    subscript(number: UInt32) -> Label {
        get { labels[Int(number)] }
        _modify { yield &labels[Int(number)] }
    }

    /// The number of a label; nil if it has none yet.
    func number(of key: MapKey) -> UInt32? {
        let found = places[place(of: key)]
        return found == Self.free ? nil : found
    }

    /// The number of a label, which gets the next one if it has none yet.
    mutating func addedNumber(of key: MapKey) -> UInt32 {
        if keys.count >= places.count / 4 * 3 { grow() }
        let place = place(of: key)
        if places[place] != Self.free { return places[place] }
        let number = UInt32(truncatingIfNeeded: keys.count)
        places[place] = number
        keys.append(key)
        labels.append(Label())
        return number
    }

    /// Takes the memory for so many labels at once.
    mutating func reserve(_ count: Int) {
        keys.reserveCapacity(count)
        labels.reserveCapacity(count)
        var placeCount = places.count
        while count >= placeCount / 4 * 3 { placeCount *= 2 }
        if placeCount > places.count { place(in: placeCount) }
    }

    private mutating func grow() { place(in: 2 * places.count) }

    private mutating func place(in placeCount: Int) {
        places = [UInt32](repeating: Self.free, count: placeCount)
        for number in keys.indices { places[place(of: keys[number])] = UInt32(truncatingIfNeeded: number) }
    }

    /// Where a label's number is, or would go.
    private func place(of key: MapKey) -> Int {
        var place = key.hashValue & (places.count - 1)
        while places[place] != Self.free && keys[Int(places[place])] != key { place = (place + 1) & (places.count - 1) }
        return place
    }
}
