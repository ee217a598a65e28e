// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import SignetAPI
import SignetServer

extension Verdict {
    static func of(_ error: AdministrationError) -> Verdict {
        switch error {
        case .notRunning:
            Verdict(
                .tryAgain,
                "no server runs with this data directory. Start it with `signetd run`, or see whether --data is right")
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
