// SPDX-License-Identifier: Apache-2.0

import Platform

/// Colours for a terminal, and none for anything else.
struct Paint: Sendable {
    private let isOn: Bool

    /// Colours of standard output: off unless it is a terminal, and off when `NO_COLOR` is set.
    static let output = Paint(descriptor: STDOUT_FILENO)
    /// Colours of standard error.
    static let error = Paint(descriptor: STDERR_FILENO)

    init(descriptor: Int32) {
        let isRefused = Environment.value("NO_COLOR").map { !$0.isEmpty } ?? false
        isOn = !isRefused && isatty(descriptor) == 1 && Environment.value("TERM") != "dumb"
    }

    func good(_ text: String) -> String { wrap(text, 32) }
    func bad(_ text: String) -> String { wrap(text, 31) }
    func warning(_ text: String) -> String { wrap(text, 33) }
    func strong(_ text: String) -> String { wrap(text, 1) }
    func faint(_ text: String) -> String { wrap(text, 2) }

    private func wrap(_ text: String, _ code: Int) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// The process's environment.
enum Environment {
    static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
