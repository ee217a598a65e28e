// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import SignetAPI
import SignetServer

/// Accounts that the server cannot show.
struct DamagedAccounts: Error {
    /// What is in the place of their handles.
    let handles: [String]
}

extension Verdict {
    static func of(_ error: DamagedAccounts) -> Verdict {
        Verdict(
            .damaged,
            "these accounts are damaged in the database and not in the list: \(error.handles.map { AccountLines.plain($0) }.joined(separator: ", ")). "
                + "Make a backup and look at it with `signetd check`; see the guide, disasters.md")
    }

    static func of(_ error: AdministrationError) -> Verdict {
        switch error {
        case .noDirectory: of(StoredDirectoryError.notSetUp)
        case .notRunning:
            Verdict(
                .tryAgain,
                "no server that answers people runs with this data directory. Start it with `signetd run`, or see whether --data is right"
            )
        case .notAllowed:
            Verdict(
                .notAllowed,
                "this user may not open the server's socket in the data directory; run the command as root, or as the server's user, such "
                    + "as with setpriv --reuid signet --regid signet --clear-groups")
        case .pathTooLong:
            Verdict(
                .misconfigured,
                "the path of the data directory is too long for a socket, so the server runs without one; move the data directory, or name "
                    + "it by a shorter path")
        case .refused(.handleTaken):
            Verdict(
                .notMade,
                "somebody has this handle, or it was erased, which closes it for good; so nothing was done. Only a handle that is free gets "
                    + "an invitation, and one that was released is not taken from its new holder. See `signetd accounts show`"
            )
        case .refused(.released):
            Verdict(
                .notMade,
                "the handle was released and waits for another person, so there is no account to which this could be done. "
                    + "`signetd accounts release` makes another code, `signetd accounts erase` closes the handle")
        case .refused(.unwitnessed):
            Verdict(
                .tryAgain,
                "done, but too few witnesses cosign at present: the log shows it as soon as they do; nothing is to be repeated"
            )
        case .refused(.unavailable):
            Verdict(.tryAgain, "the server cannot do it at the moment. Look at its log, then try again")
        case .refused(let code): of(DirectoryError.refused(code))
        case .unreadable:
            Verdict(
                .tryAgain,
                "the server did not answer as this version of signetd expects. See whether it still runs, and is of the same version"
            )
        }
    }
}
