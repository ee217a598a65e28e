// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet

extension PeerContradiction {
    var sentence: Sentence {
        let remedy = "The directory contradicts what it proved to you. Do not use these keys."
        return switch self {
        case .olderVersion(let pinned, let received):
            Sentence(
                "You are shown version \(received) of the account, but version \(pinned) was proven before.",
                remedy)
        case .anotherStateAtSameVersion(let version):
            Sentence("The account has two different versions \(version).", remedy)
        case .doesNotFollow(let pinned):
            Sentence("The account does not continue version \(pinned), which was proven before.", remedy)
        }
    }
}

extension PeerKeyChange {
    /// Whether a logged recovery explains the other identity.
    var isRecovery: Bool { if case .recovered = identity { true } else { false } }

    /// `device 2 was added, 1 device was removed`.
    var words: String {
        var parts = added.map { "device \($0.number) was added" }
        parts += removed.map { "device \($0.number) was removed" }
        parts += rekeyed.map { "device \($0.number) has new encryption keys" }
        switch identity {
        case .none: break
        case .recovered(let time): parts.insert("they recovered their identity on \(Moment.day(of: time))", at: 0)
        case .rushed:
            parts.append("the identity is a new one, taken over without the delay in which the person could object")
        case .unexplained: parts.append("the identity is a new one, and nothing explains it")
        }
        return parts.joined(separator: ", ")
    }
}
