// SPDX-License-Identifier: Apache-2.0

import SharedLog
import SignetServer

extension Verdict {
    static func of(_ error: ObjectsRepairError) -> Verdict {
        switch error {
        case .stored(let error): of(error)
        case .engines(let error): of(error)
        case .end(.candidacy(let end)): of(end)
        case .end(.objectsDiffer(let paths)):
            Verdict(
                .damaged,
                "nothing was changed: the bucket has something else than the log at \(list(paths)). Find out who has written there; then "
                    + "write over each with --replace PATH, or move them away")
        case .end(.unconfirmed(let silent)):
            Verdict(
                .tryAgain,
                "nothing was changed: the object `signed` is missing or older than what was published, and "
                    + (silent.isEmpty
                        ? "there are no witnesses to ask, or not enough"
                        : "too few witnesses say what they have cosigned; \(list(silent.map(\.text))) did not answer")
                    + ". If the database is an older copy, going on forks the log. If you know that it is the newest, run it with "
                    + "--accept-unconfirmed")
        case .end(.objectsBeyond(let size, let paths)):
            Verdict(
                .damaged,
                "nothing was changed: the database has \(size) entries, and the bucket has objects of more: \(list(paths)). The database is an "
                    + "older copy, and going on would fork the log: find the newer one (see \"The database is behind\" in the guide). If you know "
                    + "that they are not this log's, name them with --replace")
        case .end(.signing(let error)): Verdict(.damaged, "the log's key does not sign: \(error)")
        }
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(20).joined(separator: ", ")
        return names.count > 20 ? "\(shown) and \(names.count - 20) more" : shown
    }
}
