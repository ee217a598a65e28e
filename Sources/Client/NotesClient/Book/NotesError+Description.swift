// SPDX-License-Identifier: Apache-2.0

/// A description that is safe in an app's log: the case and, for a lower layer, its check. It contains no handle, no
/// key, no name of a note, and no byte that a server sent.
extension NotesError: CustomStringConvertible {
    /// The name of the case, and the description of the lower layer's error if that is safe as well.
    public var description: String {
        switch self {
        case .client(let error): "client: \(error)"
        case .store(let error): "store: \(error)"
        case .sealed: "sealed"
        case .noSuchNote: "noSuchNote"
        case .locked: "locked"
        case .mayNotWrite: "mayNotWrite"
        case .onlyOwner: "onlyOwner"
        case .isGone: "isGone"
        case .ownersStay: "ownersStay"
        case .nothingToRevert: "nothingToRevert"
        case .notAMember: "notAMember"
        case .memberAlready: "memberAlready"
        case .stranger: "stranger"
        case .notAccepted: "notAccepted"
        case .changedKeys: "changedKeys"
        case .contradicted: "contradicted"
        case .noAccountKey: "noAccountKey"
        case .wrongPassword: "wrongPassword"
        case .weakPassword: "weakPassword"
        case .isLocked: "isLocked"
        case .fileChanged: "fileChanged"
        case .nothingUnlocks: "nothingUnlocks"
        case .refused: "refused"
        case .noRoom: "noRoom"
        case .keepsMoving: "keepsMoving"
        case .doubted: "doubted"
        case .bundle: "bundle"
        case .endlessFeed: "endlessFeed"
        case .serverWentBack: "serverWentBack"
        case .removalIsLost: "removalIsLost"
        case .accountHead: "accountHead"
        case .accountKey: "accountKey"
        case .malformedAnswer: "malformedAnswer"
        case .noRandomness: "noRandomness"
        }
    }
}
