// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// The entries that are not yet in a bundle file, kept as the bundles they will be.
struct RecentEntries: Sendable {
    /// The number of the first bundle kept.
    private(set) var firstBundle: UInt64 = 0
    private var bundles: [[UInt8]] = []
    private var lastCount = 0

    /// Adds the next `count` entries, each behind its length.
    mutating func append(_ payload: ArraySlice<UInt8>, count: Int) {
        var position = payload.startIndex
        var rest = count
        while rest > 0 {
            if bundles.isEmpty || lastCount == Tile.fullWidth { beginBundle() }
            let fitting = min(rest, Tile.fullWidth - lastCount)
            let end = Frame.end(of: fitting, in: payload, from: position)
            bundles[bundles.count - 1].append(contentsOf: payload[position..<end])
            lastCount += fitting
            rest -= fitting
            position = end
        }
    }

    /// The next bundle is probably as long as the last one.
    private mutating func beginBundle() {
        var bundle: [UInt8] = []
        bundle.reserveCapacity(bundles.last?.count ?? 0)
        bundles.append(bundle)
        lastCount = 0
    }

    /// The first `width` entries of a bundle as they are served; nil when the bundle is in a file, or not so far yet.
    func bundle(_ index: UInt64, width: Int) -> [UInt8]? {
        guard index >= firstBundle, index - firstBundle < UInt64(bundles.count) else { return nil }
        let bundle = bundles[Int(index - firstBundle)]
        let isLast = Int(index - firstBundle) == bundles.count - 1
        let count = isLast ? lastCount : Tile.fullWidth
        guard width <= count else { return nil }
        return width == count ? bundle : [UInt8](bundle[..<Self.end(of: width, in: bundle)])
    }

    /// Forgets the bundles before `index`, which are all full and in files.
    mutating func removeBundles(before index: UInt64) {
        guard index > firstBundle else { return }
        bundles.removeFirst(min(bundles.count, Int(index - firstBundle)))
        firstBundle = index
    }

    /// Where the first `width` entries end.
    static func end(of width: Int, in bundle: [UInt8]) -> Int { Frame.end(of: width, in: bundle[...], from: 0) }
}
