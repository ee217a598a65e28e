// SPDX-License-Identifier: Apache-2.0

/// Joins two changes of one text, line by line, where they touch different lines.
///
/// A line ends with LF, which belongs to it; the last may lack one. What one side changed is taken; what both changed
/// alike is taken once; what both changed differently, also in lines next to each other, is a conflict.
public enum LineMerge {
    /// The joined text; nil when the changes meet, or are too large to be joined without surprise.
    public static func merge(base: [UInt8], mine: [UInt8], theirs: [UInt8]) -> [UInt8]? {
        if mine == base || mine == theirs { return theirs }
        if theirs == base { return mine }
        let texts = (base: lines(base), mine: lines(mine), theirs: lines(theirs))
        guard let toMine = LineMatch(texts.base, texts.mine), let toTheirs = LineMatch(texts.base, texts.theirs)
        else { return nil }
        return join(texts.base, texts.mine, texts.theirs, toMine.partners, toTheirs.partners)
    }

    /// Walks from one line that all three have to the next, and decides on what lies between.
    private static func join(
        _ base: [ArraySlice<UInt8>], _ mine: [ArraySlice<UInt8>], _ theirs: [ArraySlice<UInt8>],
        _ toMine: [Int?], _ toTheirs: [Int?]
    ) -> [UInt8]? {
        var merged: [UInt8] = []
        var (b, m, t) = (0, 0, 0)
        while true {
            let anchor = (b..<base.count).first { toMine[$0] != nil && toTheirs[$0] != nil } ?? base.count
            let anchorMine = anchor < base.count ? toMine[anchor] ?? mine.count : mine.count
            let anchorTheirs = anchor < base.count ? toTheirs[anchor] ?? theirs.count : theirs.count
            guard let between = choose(base[b..<anchor], mine[m..<anchorMine], theirs[t..<anchorTheirs]) else {
                return nil
            }
            for line in between { merged += line }
            guard anchor < base.count else { return merged }
            merged += base[anchor]
            (b, m, t) = (anchor + 1, anchorMine + 1, anchorTheirs + 1)
        }
    }

    private static func choose(
        _ base: ArraySlice<ArraySlice<UInt8>>, _ mine: ArraySlice<ArraySlice<UInt8>>,
        _ theirs: ArraySlice<ArraySlice<UInt8>>
    ) -> ArraySlice<ArraySlice<UInt8>>? {
        if mine.elementsEqual(base) || mine.elementsEqual(theirs) { return theirs }
        return theirs.elementsEqual(base) ? mine : nil
    }

    private static func lines(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.count
            lines.append(text[start..<end])
            start = end
        }
        return lines
    }
}
