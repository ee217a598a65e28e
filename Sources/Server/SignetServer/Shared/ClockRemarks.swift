// SPDX-License-Identifier: Apache-2.0

import LogFencing
import Logging

/// What was said of how far this process's clock is from the database's: that it is too far, once, and that it is so no more.
struct ClockRemarks: Sendable {
    private var isLarge = false

    mutating func tell(_ difference: ClockDifference, _ logger: Logger) {
        guard difference.isLarge != isLarge else { return }
        isLarge = difference.isLarge
        guard isLarge else { return logger.notice("the clock agrees with the database's again") }
        logger.warning(
            "the clock is wrong, or the database's is", metadata: ["difference": "\(Self.text(difference))"])
    }

    /// For logs and `/ready`.
    static func text(_ difference: ClockDifference) -> String {
        "\(difference.seconds.magnitude) seconds \(difference.seconds < 0 ? "behind" : "ahead of") the database's"
    }
}
