// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// The entries that are not yet in a bundle file, kept as the bundles they will be.
struct RecentEntries: Sendable {
    /// The number of the first bundle kept.
    private(set) var firstBundle: UInt64 = 0
    private var bundles: [[UInt8]] = []
    private var lastCount = 0

    /// Adds the next entry.
    mutating func append(_ entry: some Collection<UInt8>) {
        if bundles.isEmpty || lastCount == Tile.fullWidth {
            bundles.append([])
            lastCount = 0
        }
        Frame.appendEntry(entry, to: &bundles[bundles.count - 1])
        lastCount += 1
    }

    /// The first `width` entries of a bundle as they are served; nil when the bundle is in a file, or not so far yet.
    func bundle(_ index: UInt64, width: Int) -> [UInt8]? {
        guard index >= firstBundle, index - firstBundle < UInt64(bundles.count) else { return nil }
        let bundle = bundles[Int(index - firstBundle)]
        let isLast = Int(index - firstBundle) == bundles.count - 1
        guard width <= (isLast ? lastCount : Tile.fullWidth) else { return nil }
        return [UInt8](bundle[..<Self.end(of: width, in: bundle)])
    }

    /// Forgets the bundles before `index`, which are all full and in files.
    mutating func removeBundles(before index: UInt64) {
        guard index > firstBundle else { return }
        bundles.removeFirst(min(bundles.count, Int(index - firstBundle)))
        firstBundle = index
    }

    /// Where the first `width` entries end.
    static func end(of width: Int, in bundle: [UInt8]) -> Int {
        var position = 0
        for _ in 0..<width where position + 2 <= bundle.count {
            position += 2 + (Int(bundle[position]) << 8 | Int(bundle[position + 1]))
        }
        return min(position, bundle.count)
    }
}
