// SPDX-License-Identifier: Apache-2.0

/// Bytes as a QR code, model 2, byte mode, error correction level L.
///
/// Spec: ISO/IEC 18004:2015, sections 6 and 7.
public struct QRSymbol: Hashable, Sendable {
    /// The most bytes that the largest version holds at level L.
    public static let maximumByteCount = 2953

    /// Modules on a side: 21 to 177.
    public let side: Int
    /// Row by row, true for dark.
    private(set) var modules: [Bool]

    /// Whether the module in a row and column is dark; outside of the symbol everything is light.
    public func isDark(row: Int, column: Int) -> Bool {
        guard (0..<side).contains(row), (0..<side).contains(column) else { return false }
        return modules[row * side + column]
    }

    /// The smallest symbol that holds some bytes; nil for more than ``maximumByteCount``.
    public init?(_ bytes: [UInt8]) {
        guard let version = QRVersion.smallest(for: bytes.count) else { return nil }
        var grid = QRGrid(version)
        grid.place(version.codewords(for: bytes))
        let masked = (0..<8).map { grid.masked($0) }
        let best = masked.indices.min { masked[$0].penalty < masked[$1].penalty } ?? 0
        side = version.side
        modules = masked[best].modules
    }

    /// Two rows of modules a line, in half blocks, dark on light, with the quiet zone of four modules around.
    public var text: String {
        stride(from: -4, to: side + 4, by: 2).map { row in
            String(
                (-4..<side + 4).map { column -> Character in
                    switch (isDark(row: row, column: column), isDark(row: row + 1, column: column)) {
                    case (true, true): " "
                    case (true, false): "\u{2584}"
                    case (false, true): "\u{2580}"
                    case (false, false): "\u{2588}"
                    }
                })
        }.joined(separator: "\n")
    }
}
