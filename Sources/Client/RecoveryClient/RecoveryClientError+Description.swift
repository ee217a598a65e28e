// SPDX-License-Identifier: Apache-2.0

/// What is safe in an app's log: the case and, of the directory's answer, its check. It contains no handle, no key, no path, and
/// no byte that a server sent.
extension RecoveryClientError: CustomStringConvertible {
    /// The name of the case, and the description of the client's error.
    public var description: String {
        switch self {
        case .client(let error): "client: \(error)"
        case .file: "file"
        case .damaged: "damaged"
        case .anotherVersion: "anotherVersion"
        case .guardedByRemovedDevices: "guardedByRemovedDevices"
        case .malformedAnswer: "malformedAnswer"
        case .identityElsewhere: "identityElsewhere"
        case .notAccepted: "notAccepted"
        case .boxFull: "boxFull"
        case .noGuardians: "noGuardians"
        case .chosenElsewhere: "chosenElsewhere"
        case .notInForceYet: "notInForceYet"
        case .allHaveAnswered: "allHaveAnswered"
        case .removedDevice: "removedDevice"
        case .noneAsked: "noneAsked"
        case .guardiansThere: "guardiansThere"
        case .changedTooSoon: "changedTooSoon"
        case .guardiansElsewhere: "guardiansElsewhere"
        case .recoveryIsOpen: "recoveryIsOpen"
        case .listedDevice: "listedDevice"
        case .setup: "setup"
        case .notTheirGuardian: "notTheirGuardian"
        case .nobodyAsks: "nobodyAsks"
        case .noSuchNumber: "noSuchNumber"
        case .notRevealed: "notRevealed"
        case .guardianCase: "guardianCase"
        case .duty: "duty"
        case .notRecoverable: "notRecoverable"
        case .anotherAsks: "anotherAsks"
        case .ownRequestLost: "ownRequestLost"
        case .frozen: "frozen"
        case .olderGuardians: "olderGuardians"
        case .noFormerGuardians: "noFormerGuardians"
        case .anotherPaper: "anotherPaper"
        case .nobodyConfirmed: "nobodyConfirmed"
        case .start: "start"
        case .answerRefused: "answerRefused"
        case .noRecovery: "noRecovery"
        case .stopped: "stopped"
        case .tooEarly: "tooEarly"
        case .attempt: "attempt"
        case .request: "request"
        case .nothingToStop: "nothingToStop"
        case .account: "account"
        case .journal: "journal"
        case .guardedThingsLost: "guardedThingsLost"
        case .guardedThingsUnreadable: "guardedThingsUnreadable"
        case .tooMuchToGuard: "tooMuchToGuard"
        }
    }
}
