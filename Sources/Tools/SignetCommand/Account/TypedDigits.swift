// SPDX-License-Identifier: Apache-2.0

import Platform
import Signet

/// The twelve digits that one device shows, and the person types on the other one.
enum TypedDigits {
    /// - Parameter code: what they typed; nil asks them at the terminal.
    static func given(_ code: String?, _ question: String) throws -> String {
        if let code { return code }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                .needsDecision, "This needs your decision, but there is no terminal on which to ask.",
                "Look at the other device, then use --code DIGITS.")
        }
        Output.error(question)
        return readLine(strippingNewline: true) ?? ""
    }
}
