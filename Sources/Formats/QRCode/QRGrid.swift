// SPDX-License-Identifier: Apache-2.0

/// The modules of a symbol while it is drawn.
struct QRGrid {
    private let version: QRVersion
    private let side: Int
    private(set) var modules: [Bool]
    /// Modules that hold no data and are not masked.
    private var isFixed: [Bool]

    init(_ version: QRVersion) {
        self.version = version
        side = version.side
        modules = Array(repeating: false, count: side * side)
        isFixed = modules
        drawPatterns()
    }

    private mutating func fix(_ row: Int, _ column: Int, _ isDark: Bool) {
        guard (0..<side).contains(row), (0..<side).contains(column) else { return }
        modules[row * side + column] = isDark
        isFixed[row * side + column] = true
    }

    // MARK: Function patterns (section 6.3)

    private mutating func drawPatterns() {
        for place in 0..<side {
            fix(6, place, place % 2 == 0)
            fix(place, 6, place % 2 == 0)
        }
        for (row, column) in [(3, 3), (3, side - 4), (side - 4, 3)] { drawFinder(row, column) }
        let centers = version.alignment
        for row in centers {
            for column in centers where !isFinder(row, column) { drawAlignment(row, column) }
        }
        drawFormat(0)
        drawVersion()
    }

    private func isFinder(_ row: Int, _ column: Int) -> Bool {
        (row == 6 && (column == 6 || column == side - 7)) || (row == side - 7 && column == 6)
    }

    private mutating func drawFinder(_ row: Int, _ column: Int) {
        for (down, right) in Self.square(4) {
            let ring = max(abs(down), abs(right))
            fix(row + down, column + right, ring != 2 && ring != 4)
        }
    }

    private mutating func drawAlignment(_ row: Int, _ column: Int) {
        for (down, right) in Self.square(2) { fix(row + down, column + right, max(abs(down), abs(right)) != 1) }
    }

    private static func square(_ reach: Int) -> [(Int, Int)] {
        (-reach...reach).flatMap { down in (-reach...reach).map { (down, $0) } }
    }

    /// Level L (01) and mask, 15 bits of a BCH code, twice (section 7.9).
    private mutating func drawFormat(_ mask: Int) {
        let value = 0b01 << 3 | mask
        var rest = value
        for _ in 0..<10 { rest = rest << 1 ^ (rest >> 9) * 0x537 }
        let bits = (value << 10 | rest) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { fix(index, 8, bit(index)) }
        fix(7, 8, bit(6))
        fix(8, 8, bit(7))
        fix(8, 7, bit(8))
        for index in 9..<15 { fix(8, 14 - index, bit(index)) }
        for index in 0..<8 { fix(8, side - 1 - index, bit(index)) }
        for index in 8..<15 { fix(side - 15 + index, 8, bit(index)) }
        fix(side - 8, 8, true)
    }

    /// The version from 7 on, 18 bits of a BCH code, twice (section 7.10).
    private mutating func drawVersion() {
        guard version.number >= 7 else { return }
        var rest = version.number
        for _ in 0..<12 { rest = rest << 1 ^ (rest >> 11) * 0x1F25 }
        let bits = version.number << 12 | rest
        for index in 0..<18 {
            let (long, short) = (side - 11 + index % 3, index / 3)
            fix(long, short, bits >> index & 1 == 1)
            fix(short, long, bits >> index & 1 == 1)
        }
    }

    // MARK: Data (section 7.7.3)

    /// Two columns at a time from the right, up and down in turn, around what is fixed.
    mutating func place(_ bytes: [UInt8]) {
        var bit = 0
        var right = side - 1
        var isUpward = true
        while right >= 1 {
            if right == 6 { right = 5 }
            for step in 0..<side {
                let row = isUpward ? side - 1 - step : step
                for column in [right, right - 1] where !isFixed[row * side + column] && bit < 8 * bytes.count {
                    modules[row * side + column] = bytes[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1
                    bit += 1
                }
            }
            right -= 2
            isUpward.toggle()
        }
    }

    // MARK: Masks (section 7.8)

    func masked(_ mask: Int) -> QRGrid {
        var grid = self
        for row in 0..<side {
            for column in 0..<side where !isFixed[row * side + column] && Self.isFlipped(mask, row, column) {
                grid.modules[row * side + column].toggle()
            }
        }
        grid.drawFormat(mask)
        return grid
    }

    private static func isFlipped(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }

    /// How hard it is to read (section 7.8.3.1); runs, blocks and balance, which is enough to choose among eight masks.
    var penalty: Int {
        var penalty = 0
        for line in 0..<side {
            penalty += runs { modules[line * side + $0] } + runs { modules[$0 * side + line] }
        }
        for row in 0..<side - 1 {
            for column in 0..<side - 1 {
                let place = row * side + column
                let corner = modules[place]
                if corner == modules[place + 1], corner == modules[place + side], corner == modules[place + side + 1] {
                    penalty += 3
                }
            }
        }
        let dark = modules.count { $0 }
        return penalty + abs(20 * dark - 10 * modules.count) / modules.count * 10
    }

    private func runs(_ isDark: (Int) -> Bool) -> Int {
        var (penalty, length) = (0, 1)
        for place in 1..<side {
            length = isDark(place) == isDark(place - 1) ? length + 1 : 1
            if length == 5 { penalty += 3 } else if length > 5 { penalty += 1 }
        }
        return penalty
    }
}
