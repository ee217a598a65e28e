// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetServer

extension Verdict {
    /// What a file ended with, by its `errno`. What may be otherwise soon, or when there is room, is no damage: systemd starts again.
    init(ofSystem code: Int32, _ sentence: String) {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(code)
        let status: DaemonStatus =
            if isFull || code == EIO { .diskFailed } else { [EMFILE, ENFILE].contains(code) ? .tryAgain : .damaged }
        self.init(status, isFull ? sentence + "; make room, and run the same command again" : sentence)
    }

    /// What a file that was to be read ended with. A longer one than it can be is damaged.
    init(reading failure: FileFailure) {
        let sentence = Self.sentence(failure)
        if failure.code == EFBIG { self.init(.damaged, sentence) } else { self.init(ofSystem: failure.code, sentence) }
    }

    static func sentence(_ failure: FileFailure) -> String {
        let isLost = failure.code == ENOENT && failure.path.hasSuffix("/records/parts")
        guard failure.code != EBADMSG, !isLost else {
            return
                "\(failure.path) is \(isLost ? "missing" : "damaged"): restore it from the newest backup. Only if there is none, write it "
                + "anew: notes/notes.sqlite, notes/login.key, recovery.sqlite, signals.sqlite, and each file of the folder cards, one name a line"
        }
        let remedy =
            switch failure.code {
            case EMFILE, ENFILE: "; \(moreFiles)"
            case EACCES, EPERM: "; see whom it belongs to, and give it to the server's user with chown"
            default: ""
            }
        return "\(failure.path): \(text(failure.code))\(remedy)"
    }
}
