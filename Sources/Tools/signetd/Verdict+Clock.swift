// SPDX-License-Identifier: Apache-2.0

import SignetServer

extension Verdict {
    static func of(_ error: ClockAhead) -> Verdict {
        let found: String
        let exception: String
        switch error.of {
        case .log:
            found = "after what the log signed last"
            exception = "If it is right, because the server was off for so long"
        case .witnesses:
            found = "ahead of the time that a quorum of the witnesses names, or all that answer"
            exception =
                "If it is these that are wrong, tell their operators, and leave their times out with --disregard-witness NAME; or, where fewer than "
                + "a quorum answer"
        }
        return Verdict(
            .tryAgain,
            "this machine's clock is \(span(error.seconds)) \(found). If the clock is wrong, set it: clients refuse a log that is ahead of their "
                + "clocks, and what is signed cannot be taken back. \(exception), run the same command once with --accept-clock. Nothing was signed"
        )
    }
}
