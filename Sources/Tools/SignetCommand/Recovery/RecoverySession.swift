// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyTransparency
import Signet
import SocialRecovery

extension Session {
    /// What looking at the own guardians is.
    func guardiansAction() async throws -> PresenceAction {
        do { return try await open.guardiansAction() } catch { throw CommandFailure(error, session: self) }
    }
}

/// How long a recovery may be stopped, as people write it: `2d`, `36h`, `10m`, `5s`.
struct Wait: ExpressibleByArgument {
    let seconds: UInt32

    init(seconds: UInt32) { self.seconds = seconds }

    init?(argument: String) {
        guard let seconds = TimeLength.seconds(of: Array(argument.utf8)) else { return nil }
        self.seconds = UInt32(clamping: seconds)
    }

    var defaultValueDescription: String { TimeLength.text(ofSeconds: UInt64(seconds)) }
}

extension MeetingEvidence {
    /// What the guardian's screen says of how sure the keys are.
    func words(_ owner: Handle) -> String {
        let day = Moment.day(of: date)
        return switch kind {
        case .person: "You met in person on \(day)."
        case .code: "You compared a code on \(day)."
        case .none: "You and \(owner) have never compared keys: meet or call them before you continue."
        }
    }
}
