// SPDX-License-Identifier: Apache-2.0

import SignetServer
import TransparencyLog

extension Verdict {
    /// Another change than the one that is asked for has to be completed first.
    static func of(_ pending: PendingChange) -> Verdict {
        if case .successor(let keys) = pending { return ended(by: keys) }
        return Verdict(.notMade, "nothing was changed: \(sentence(pending))")
    }

    static func sentence(_ pending: PendingChange) -> String {
        switch pending {
        case .witnesses(let lines):
            "a change of the witnesses is in the log and not complete here, and until it is nobody signs for the log. If it was interrupted, run "
                + "`signetd rotate witnesses` with the list that it has, which is below. If it was complete, put back the newest "
                + "directory.signet and records/succession, or on many machines history/succession\n"
                + String(decoding: lines, as: UTF8.self).split(separator: "\n").joined(separator: "\n")
        case .logKey(let key):
            "a change of the log's key is in the log and not complete here, and until it is nobody signs for the log. If it was interrupted, run "
                + "`signetd rotate log-key` with keys/log.key.next as it was then: its key is \(String(decoding: key.encoded, as: UTF8.self)). "
                + "If it was complete, put back the newest directory.signet, keys/log.key and records/succession, "
                + "or on many machines history/succession"
        case .successor(let keys): ended(by: keys).sentence
        }
    }

    static func ended(by keys: [VerifierKey]) -> Verdict {
        guard let key = keys.first else {
            return Verdict(
                .notMade,
                "this log is about to end, but its last record is not cosigned yet; "
                    + "run the same `signetd succeed` as before to complete it")
        }
        return Verdict(
            .notMade,
            "this log has ended; \(String(decoding: key.encoded, as: UTF8.self)) continues it. Serve that one's "
                + "data directory; "
                + "if it is not there yet, run the same `signetd succeed` as before to complete it")
    }
}
