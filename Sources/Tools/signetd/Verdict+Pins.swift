// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetServer

extension Verdict {
    static func of(_ error: TLSRotationError) -> Verdict {
        switch error {
        case .completed:
            Verdict(
                .tryAgain,
                "an interrupted change of the TLS key was completed; the same command again makes another change")
        case .tooEarly(let time):
            Verdict(
                .tryAgain,
                "clients have not yet had 30 days to learn of the reserve key; they will have had them on "
                    + "\(day(time)). "
                    + "If the key in use was stolen, add --now"
            )
        case .unannounced(let time):
            Verdict(
                .tryAgain,
                "nothing has changed: the log got the pins less than a day ago, and clients that have not asked since then do not know the "
                    + "reserve key; they would be locked out. By \(moment(time)) they will have asked. If the key in use was stolen "
                    + "again, add --leave-behind"
            )
        case .otherOwner: Verdict(.damaged, "nothing has changed: \(Self.otherOwner)")
        case .clockAhead(let error):
            Verdict(
                .tryAgain,
                "nothing has changed: this machine's clock is \(span(error.seconds)) after what the log signed last. If the clock is wrong, set "
                    + "it: clients would refuse a certificate of the future. If it is right, because the server was off for so long, add "
                    + "--accept-clock")
        case .outdated(let logged, let here):
            Verdict(
                .damaged,
                "nothing has changed: the log has version \(logged) of the pins, and tls/pins is version \(here). \(Self.newestPins)"
            )
        case .otherLogged(let version):
            Verdict(
                .damaged,
                "nothing has changed: the log has another version \(version) of the pins than tls/pins here, which no client will accept. "
                    + Self.newestPins)
        case .announced(let version):
            Verdict(
                .tryAgain,
                "nothing has changed: another machine has made version \(version) of the pins. Copy directory.signet and the folder tls from there, "
                    + "and tls/backup.key for the next change. Only if that machine's files are lost, remove the object pins/\(version) from "
                    + "the bucket and run this again")
        case .unlogged(let version):
            Verdict(
                .tryAgain,
                "nothing has changed: the log does not have version \(version) of the pins yet, and would never get it. Start the server if it "
                    + "is stopped, wait until its log has it, and run this again")
        case .reserveUnlogged(let version):
            Verdict(
                .tryAgain,
                "nothing has changed: the log has not published version \(version) of the pins yet, so that no client knows the reserve key, and "
                    + "everybody would be locked out. Start the server if it is stopped, wait until `signet pins update` shows version "
                    + "\(version), and run this again. The log publishes nothing while too few witnesses cosign. While clients refuse the certificate, which `/ready` and `signetd check` say, the log "
                    + "does not get it: renew the certificate first, `signetd rotate tls --renew`")
        case .unreadable(let path):
            Verdict(
                .damaged,
                "nothing has changed: \(path) cannot be read: it has to be whole, PEM, and not encrypted. Put a good copy of it back, from where "
                    + "it is kept")
        case .reserveNotPinned:
            Verdict(
                .damaged, "the key in tls/backup.key is not the reserve key that clients know; nothing has changed")
        case .keyNotPinned:
            Verdict(
                .damaged,
                "nothing has changed: tls/server.pem is not for a key that clients know. \(newestPins)")
        case .certificateNeeded:
            Verdict(
                .damaged,
                "a certificate for the reserve key is needed: put tls/ca.key back, or give one with --certificate")
        case .authorityNeeded:
            Verdict(
                .damaged,
                "nothing has changed: tls/ca.key is not here, which signs another certificate for the key in use. Put it back from where it is "
                    + "kept; where another authority signs, put its certificate for the same key in tls/server.pem")
        case .refusedByClients(let word):
            Verdict(
                .damaged,
                "nothing has changed: clients would refuse the new certificate (\(word)). It has to be signed by the authority of the line tls-root in "
                    + "directory.signet, for the name of the server, and in time. Without --certificate it is made for the names that "
                    + "tls/server.pem has, by tls/ca.key, which has to be the key of that authority: after `signetd rotate tls --lost` only "
                    + "the newest one is")
        case .tls(let error): of(error)
        case .pins(.file(let failure)) where failure.code == ENOENT:
            Verdict(
                .damaged,
                "\(failure.path) is missing, and directory.signet is not that of the log's newest pins. Nothing has changed. \(newestPins)"
            )
        case .pins(let error): of(error)
        case .stored(let error): of(error)
        case .file(let failure) where failure.code == ENOENT:
            Verdict(
                .notMade,
                "nothing has changed: \(failure.path) is not there. Put tls/backup.key, and tls/ca.key if the server's own authority signs, back "
                    + "from where they are kept")
        case .file(let failure): Verdict(.diskFailed, sentence(failure))
        }
    }

    static func of(_ error: RecoveryKeyError) -> Verdict {
        switch error {
        case .invalidName: Verdict(.notMade, "the log's name cannot begin the name of a key")
        case .file(let failure): Verdict(.notMade, sentence(failure))
        case .key(.file(let failure)): Verdict(.damaged, sentence(failure))
        case .key: Verdict(.damaged, "the recovery key's file is not valid, or others may read it")
        case .pins(let error): of(error)
        }
    }

    /// What to do where the files do not have the pins of the log.
    private static let newestPins =
        "Copy directory.signet and the whole folder tls here, from the machine or the backup that has the newest. If there is none, see the "
        + "guide, disasters.md, \"The pins are lost\""

    private static func of(_ error: StoredPinsError) -> Verdict {
        switch error {
        case .file(let failure): Verdict(reading: failure)
        case .malformed(let path, _): Verdict(.damaged, "\(path) does not hold the pins of a directory's server")
        case .ofOtherDirectory(let path):
            Verdict(.damaged, "\(path) holds the pins of another directory; restore it from the newest backup")
        }
    }

    /// What to do where a data directory is another user's.
    static let otherOwner =
        "the data directory belongs to another user; run the command as that user, such as with setpriv --reuid signet --regid signet "
        + "--clear-groups"

    private static func moment(_ time: UInt64) -> String {
        Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)
    }

    private static func day(_ time: UInt64) -> String {
        Date(timeIntervalSince1970: Double(time)).formatted(.iso8601.year().month().day())
    }
}
