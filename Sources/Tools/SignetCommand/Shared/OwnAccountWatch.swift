// SPDX-License-Identifier: Apache-2.0

import Signet
import SignetAPI
import Synchronization

/// A look at the own account, at the keys of others that were used, and at the pins of the directory's server, when a command that
/// asked the directory has ended, if one is due.
///
/// An alarm goes to standard error; the command's own answer and status stay as they are.
enum OwnAccountWatch {
    private static let session = Mutex<Session?>(nil)

    /// Lets ``finish()`` look.
    static func arm(_ session: Session) { Self.session.withLock { $0 = session } }

    /// Looks, if a command armed the watch.
    static func finish() async {
        guard let session = session.withLock({ $0 }) else { return }
        for finding in await session.open.check() {
            switch finding {
            case .ownAccount(let alarm): sound(alarm.sentence)
            case .shownKeys(let alarm): sound(alarm.sentence)
            case .broughtAgain(let versions): Output.error("signet: \(MonitorReport.sentence(broughtAgain: versions))")
            case .refused(let subject, let error):
                let sentence = error.sentence(session.profile.url)
                Output.error(
                    "\(Paint.error.bad("signet: \(subject.words) cannot be checked:")) \(sentence.what)")
                Output.error("        \(sentence.remedy)")
            case .overdue(let subject, let since, let error):
                let sentence = error.sentence(session.profile.url)
                Output.error(
                    "\(Paint.error.bad("signet: \(subject.words) has not been checked since \(Moment.date(since)):")) "
                        + sentence.what)
                Output.error(
                    "        Your command was answered: the directory may be hiding what it logged. Next, run: "
                        + "signet monitor"
                )
            }
        }
    }

    private static func sound(_ alarm: Sentence) {
        Output.error("\(Paint.error.bad("signet: alarm:")) \(alarm.what)")
        Output.error("        \(alarm.remedy)")
    }
}

extension WatchSubject {
    var words: String {
        switch self {
        case .ownAccount: "your own account"
        case .shownKeys: "what you were shown about others"
        case .pins: "the server's pins"
        }
    }
}
