// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import LogWitness
import SignetServer
import TransparencyLog

/// The sentences about a witness.
extension Verdict {
    static func of(_ error: StoredWitnessError) -> Verdict {
        switch error {
        case .notSetUp: Verdict(.notSetUp, "there is no data directory; make one with `signetd witness init`")
        case .keyNotPrivate:
            Verdict(.damaged, "witness.key can be used by others; chmod 600 it, and consider whether it was read")
        case .keyDamaged: Verdict(.damaged, "witness.key is not a witness's key; restore it from a copy")
        case .file(let failure): Verdict(reading: failure)
        case .logs(let error): of(error)
        case .memory(let error): of(error)
        }
    }

    static func of(_ error: WitnessServerStop) -> Verdict {
        switch error {
        case .memoryFailed(let error): of(error)
        case .cannotListen: Verdict(.addressUnusable, "the address is in use or not one of this machine; see --bind")
        }
    }

    private static func of(_ error: WitnessStoreError) -> Verdict {
        switch error {
        case .opening(let error):
            of(
                error, "witness.sqlite",
                "restore the newest copy. If it is lost, make a new witness: "
                    + "this one no longer knows what it cosigned")
        case .ofOtherKey: Verdict(.damaged, "witness.sqlite belongs to another witness")
        case .damaged: Verdict(.damaged, "witness.sqlite is damaged; make a new witness")
        case .busy(let code):
            Verdict(.tryAgain, "the witness database is busy or its disk is full: SQLite's code \(code)")
        case .failed(let code):
            Verdict(
                .diskFailed,
                "the disk failed under the witness database, SQLite's code \(code); what was cosigned is on it. "
                    + "Check space and disk, then start again")
        }
    }

    private static func of(_ error: WitnessedLogsError) -> Verdict {
        switch error {
        case .tooLong: Verdict(.damaged, "the list of logs is too long")
        case .lineNotTerminated: Verdict(.damaged, "the last line of the list of logs does not end in a line feed")
        case .unknownHeader: Verdict(.damaged, "the list of logs does not begin with logs/v0")
        case .line(let number, let fault):
            Verdict(.damaged, "the list of logs, line or entry \(number): \(words(fault))")
        }
    }

    private static func words(_ fault: WitnessedLogsFault) -> String {
        switch fault {
        case .unknownKeyword: "it begins with none of vkey, origin, qpd and contact"
        case .key(.ed25519): "bytes for which anyone can sign, or a second spelling of a key"
        case .key: "not a verifier key of Ed25519 or ML-DSA-44"
        case .keyOfOtherRole: "the key is a witness's, not a log's"
        case .duplicateKey: "this log already has this key"
        case .keyMissing: "there is no vkey line above it"
        case .secondLine: "a second line of this kind for one log"
        case .malformedText: "empty, a control character, or a space at either end"
        case .malformedRate: "not a whole number of at least 1"
        }
    }
}
