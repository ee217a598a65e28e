// SPDX-License-Identifier: Apache-2.0

import Platform
import Synchronization

/// Lines at the end of the screen that are drawn again in place, and others that stay above them. If standard output is
/// not a terminal, or is one that cannot move its cursor, all lines are printed one after the other.
final class LiveBlock: Sendable {
    private struct State {
        var lines: [String] = []
        /// How many lines the cursor is below the first of the block.
        var height = 0
    }

    private let state = Mutex(State())
    /// Whether anything is drawn in place.
    let isLive: Bool

    init(isLive: Bool = isatty(STDOUT_FILENO) == 1 && Environment.value("TERM") != "dumb") { self.isLive = isLive }

    /// Shows these lines in the place of those before.
    func draw(_ lines: [String]) { show(lines, above: []) }

    /// Says something that stays, above the block.
    func say(_ text: String) { show(nil, above: [text]) }

    /// The user has typed a line: the cursor is one line lower.
    func noteTyped() { state.withLock { $0.height += $0.height > 0 ? 1 : 0 } }

    /// What is drawn stays, and what comes next is drawn below it.
    func finish() { state.withLock { $0 = State() } }

    private func show(_ lines: [String]?, above: [String]) {
        guard isLive else { return Output.line((above + (lines ?? [])).joined(separator: "\n")) }
        state.withLock { state in
            let next = lines ?? state.lines
            let text = Self.text(replacing: state.height, with: next, below: above, width: Self.width)
            if !text.isEmpty { Output.line(text) }
            state.lines = next
            state.height = next.count
        }
    }

    /// What a terminal is sent: up to the first line of the block, erase to the end, then what stays and the block, each line cut so
    /// that it does not go on in the next.
    static func text(replacing height: Int, with lines: [String], below above: [String], width: Int) -> String {
        let up = height > 0 ? "\u{1B}[\(height)A\r\u{1B}[J" : ""
        return up + (above + lines.map { String($0.prefix(max(width - 1, 1))) }).joined(separator: "\n")
    }

    private static var width: Int { columnCount(of: STDOUT_FILENO) ?? 80 }
}
