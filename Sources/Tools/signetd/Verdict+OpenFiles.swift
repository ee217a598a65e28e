// SPDX-License-Identifier: Apache-2.0

/// This process may have fewer files open than a server needs.
struct TooFewFiles: Error {
    let granted: UInt64
    let least: UInt64
}

extension Verdict {
    static func of(_ error: TooFewFiles) -> Verdict {
        Verdict(
            .misconfigured,
            "this process may have \(error.granted) files open, and needs \(error.least) for its own files and some connections: raise "
                + "LimitNOFILE in the unit (it is 16384 there as delivered), or `ulimit -n`. Nothing was opened")
    }

    static func tooManyOpenFiles(_ what: String) -> Verdict {
        Verdict(.tryAgain, "\(what). No disk has failed: too many files are open; \(moreFiles), then start again")
    }

    static let moreFiles =
        "raise LimitNOFILE in the unit, or `ulimit -n`, or the system's own limit (fs.file-max)"
}
