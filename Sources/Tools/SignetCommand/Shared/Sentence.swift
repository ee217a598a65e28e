// SPDX-License-Identifier: Apache-2.0

import PinnedHTTP
import Signet

/// What a person is told: what happened, and what to do about it.
///
/// All sentences of the program that explain an error are in this folder, one file for each kind of error.
struct Sentence: Hashable, Sendable {
    let what: String
    let remedy: String

    init(_ what: String, _ remedy: String) {
        self.what = what
        self.remedy = remedy
    }
}

/// A command that did not succeed.
struct CommandFailure: Error {
    let status: ExitStatus
    let sentence: Sentence
    /// After how many seconds the directory wants to be asked again, if it said so.
    var retryAfter: UInt64?

    init(_ status: ExitStatus, _ sentence: Sentence) {
        self.status = status
        self.sentence = sentence
    }

    init(_ status: ExitStatus, _ what: String, _ remedy: String) {
        self.init(status, Sentence(what, remedy))
    }

    /// Says it on standard error, and to programs on standard output unless they have had their answer.
    func report(asJSON isJSON: Bool) {
        if isJSON && Output.isBlank {
            Output.json([
                "failure": .string(sentence.what), "remedy": .string(sentence.remedy),
                "status": .number(UInt64(status.rawValue)),
            ])
        }
        Output.progress(nil)
        Output.error("\(Paint.error.bad("signet:")) \(sentence.what)")
        if !sentence.remedy.isEmpty { Output.error("        \(sentence.remedy)") }
    }

    static let bugRemedy = "This is a bug in signet. Please report it with the command you gave."
}

extension ErrorFamily {
    /// The status of an error that no rule of its own has.
    var status: ExitStatus {
        switch self {
        case .peer: .notProven
        case .caller: .usage
        case .environment: .environment
        case .bug: .bug
        }
    }
}
