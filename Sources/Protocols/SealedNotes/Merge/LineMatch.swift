// SPDX-License-Identifier: Apache-2.0

/// Which lines of two texts are the same: a longest common subsequence, within a bound of work.
///
/// Spec: Myers, "An O(ND) difference algorithm and its variations", 1986.
struct LineMatch {
    /// Beyond so many inserted and removed lines, the result is of no use, and the work grows with the square.
    static let maximumEditCount = 1000

    /// For each line of the first text the line of the second, rising where present.
    let partners: [Int?]

    /// nil when the texts differ in more lines than the bound.
    init?(_ first: [ArraySlice<UInt8>], _ second: [ArraySlice<UInt8>]) {
        let (a, b) = Self.numbered(first, second)
        let start = zip(a, b).prefix { $0 == $1 }.count
        let rest = min(a.count, b.count) - start
        let end = zip(a.reversed(), b.reversed()).prefix(rest).prefix { $0 == $1 }.count
        guard let pairs = Self.pairs(Array(a[start..<a.count - end]), Array(b[start..<b.count - end])) else {
            return nil
        }
        var partners = [Int?](repeating: nil, count: a.count)
        for index in 0..<start { partners[index] = index }
        for (x, y) in pairs { partners[start + x] = start + y }
        for offset in 0..<end { partners[a.count - end + offset] = b.count - end + offset }
        self.partners = partners
    }

    /// Equal lines get equal numbers.
    private static func numbered(
        _ first: [ArraySlice<UInt8>], _ second: [ArraySlice<UInt8>]
    ) -> ([Int], [Int]) {
        var numbers: [ArraySlice<UInt8>: Int] = [:]
        func number(_ line: ArraySlice<UInt8>) -> Int {
            let number = numbers[line] ?? numbers.count
            numbers[line] = number
            return number
        }
        return (first.map(number), second.map(number))
    }

    /// Pairs of equal elements, rising.
    private static func pairs(_ a: [Int], _ b: [Int]) -> [(Int, Int)]? {
        let limit = min(a.count + b.count, maximumEditCount)
        var furthest = [Int](repeating: 0, count: 2 * limit + 3)
        var trace: [[Int]] = []
        for edits in 0...limit {
            trace.append(furthest)
            for diagonal in stride(from: -edits, through: edits, by: 2) {
                var x = step(furthest, diagonal, edits, limit)
                while x < a.count, x - diagonal < b.count, a[x] == b[x - diagonal] { x += 1 }
                furthest[diagonal + limit + 1] = x
                if x >= a.count && x - diagonal >= b.count { return path(trace, a.count, b.count, limit) }
            }
        }
        return nil
    }

    /// Where the furthest path with one edit more begins on a diagonal: one down from above, or one right from below.
    private static func step(_ furthest: [Int], _ diagonal: Int, _ edits: Int, _ limit: Int) -> Int {
        let (below, above) = (furthest[diagonal + limit], furthest[diagonal + limit + 2])
        return diagonal == -edits || (diagonal != edits && below < above) ? above : below + 1
    }

    /// The diagonal moves of the path that was found, from its start.
    private static func path(_ trace: [[Int]], _ aCount: Int, _ bCount: Int, _ limit: Int) -> [(Int, Int)] {
        var (x, y) = (aCount, bCount)
        var pairs: [(Int, Int)] = []
        for (edits, furthest) in trace.enumerated().reversed() {
            let diagonal = x - y
            let start = step(furthest, diagonal, edits, limit)
            // Before the edit stood a path on the neighbouring diagonal.
            while x > start && x > 0 && y > 0 {
                x -= 1
                y -= 1
                pairs.append((x, y))
            }
            guard edits > 0 else { break }
            let (below, above) = (furthest[diagonal + limit], furthest[diagonal + limit + 2])
            let isDown = diagonal == -edits || (diagonal != edits && below < above)
            if isDown { y -= 1 } else { x -= 1 }
        }
        return pairs.reversed()
    }
}
