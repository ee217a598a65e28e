// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet

extension ComparisonState {
    /// In a list.
    var brief: String {
        switch self {
        case .none: Paint.output.warning("not compared")
        case .compared(let comparison):
            comparison.metOn.map { "compared in person on \(Moment.day($0))" } ?? "compared"
        case .outdated: Paint.output.bad("not the identity that you compared")
        }
    }

    /// On a page of its own line.
    func words(_ handle: Handle) -> String {
        let paint = Paint.output
        return switch self {
        case .none: "\(paint.warning("!")) You have not compared keys with \(handle): signet people verify \(handle)"
        case .compared(let comparison): "\(paint.good("✓")) \(comparison.words)"
        case .outdated(let comparison):
            "\(paint.bad("!")) \(comparison.words) Since then the identity of \(handle) has changed: compare again, "
                + "signet people verify \(handle)"
        }
    }

    /// For programs.
    var json: [String: PrintedValue] {
        var members: [String: PrintedValue] = ["compared": .bool(comparison != nil)]
        if let comparison {
            members["comparedBy"] = .string(comparison.kind.name)
            members["metOn"] = comparison.metOn.map { .string(Moment.day($0)) } ?? .null
        }
        if case .outdated = self { members["comparedAnotherIdentity"] = true }
        return members
    }
}

extension Comparison {
    var words: String {
        let way =
            switch kind {
            case .number: "You compared the sixty digits"
            case .code: "You read the code from their screen"
            case .card: "You checked them against their contact card"
            case .meeting: "Your devices proved to each other whose they are, and you compared the words,"
            }
        let day = metOn.map { ", and met on \(Moment.day($0))" } ?? ""
        return "\(way) on \(Moment.day(of: time))\(day)."
    }

    /// Shown before a change of identity may be accepted for a person whose keys were compared.
    var alarm: String {
        "ALARM: you compared the identity of \(handle) on \(Moment.day(of: time)), and this is a different one. "
            + "Talk to them before you accept it."
    }
}

extension Comparison.Kind {
    /// A name that scripts may rely on.
    var name: String {
        switch self {
        case .number: "number"
        case .code: "code"
        case .card: "card"
        case .meeting: "meeting"
        }
    }
}

extension CommandFailure {
    /// A contact's checkpoint shows that the log has two histories. The evidence is in the store.
    static func forkMet(_ who: String) -> CommandFailure {
        CommandFailure(
            .notProven, "ALARM: the directory showed \(who) a different log from yours, and signed both.",
            "Do not use this directory. 'signet evidence export' writes the proof, which anyone can check: show it "
                + "to others."
        )
    }
}

extension CommandFailure {
    /// Why a comparison was not recorded.
    init(_ refusal: ComparisonRefusal, _ peer: Handle) {
        switch refusal {
        case .tooFewDigits:
            self.init(
                .usage, "Those are not all the digits to compare; nothing was compared.",
                "Give all sixty digits, or the last two groups of each line, twenty digits.")
        case .otherDigits:
            self.init(
                .notProven, "ALARM: these are not the digits of you and \(peer).",
                "Read them again. If they differ, the directory gave one of you a key that is not the other's: do not use it."
            )
        case .code(let error): self.init(error.status, error.sentence(peer))
        }
    }
}

extension FriendListError {
    var sentence: Sentence {
        let remedy = "An honest directory lists everyone once, in order, and its list ends. Ask its operator."
        return switch self {
        case .outOfOrder:
            Sentence("The directory's list of your contacts is out of order, or contains someone twice.", remedy)
        case .pageTooLong: Sentence("The directory lists more people at once than it may.", remedy)
        case .emptyPage: Sentence("The directory lists no one, but says that there are more to come.", remedy)
        case .endless: Sentence("The directory's list of your contacts does not end.", remedy)
        }
    }
}

extension FriendRequestError {
    func sentence(_ peer: Handle) -> Sentence {
        let remedy =
            "Ask \(peer) to run 'signet people add' with your handle again. If nothing changes, "
            + "the directory is withholding it."
        return switch self {
        case .withheld:
            Sentence("The directory says that \(peer) asked you, but shows nothing that they signed.", remedy)
        case .malformed: Sentence("What the directory shows as the request of \(peer) cannot be read.", remedy)
        case .anotherDevice:
            Sentence(
                "The request that the directory shows as coming from \(peer) comes from a device that is not theirs.",
                remedy)
        case .invalidSignature: Sentence("\(peer) did not sign what the directory shows as their request.", remedy)
        case .forAnother: Sentence("What \(peer) signed is for someone else.", remedy)
        case .noCheckpoint: Sentence("The request of \(peer) says nothing about the log that they see.", remedy)
        }
    }
}

extension MetFriendRequest {
    /// A name that scripts may rely on.
    var name: String {
        switch met {
        case .oneHistory: "one-log"
        case .fork: "fork"
        case .noProof: "not-proved"
        case .otherLog: "other-log"
        case .notCompared: "not-compared"
        }
    }

    /// Says what is a bad sign.
    func warn() { if met == .noProof { Output.warnNotProven(handle) } }
}

extension Output {
    /// Says that the directory does not prove its one log to a friend and the user.
    static func warnNotProven(_ handle: Handle) {
        error(
            "\(Paint.error.warning("not proved:")) that \(handle) and you see the same log of the directory. Try again later."
        )
    }
}

extension IdentityCodeError {
    var status: ExitStatus { if case .malformed = self { .badFile } else { .notProven } }

    func sentence(_ peer: Handle) -> Sentence {
        let alarm =
            "Do not use these keys: the directory deceives one of you. Compare the sixty digits as well, and tell \(peer)."
        return switch self {
        case .malformed:
            Sentence(
                "The code in the picture is not a code for comparing keys.",
                "Both of you have to run 'signet people "
                    + "verify'.")
        case .anotherPersons(let handle):
            Sentence("This is the code of \(handle).", "Take a picture of \(peer)'s screen.")
        case .forAnother(let handle):
            Sentence(
                "\(peer) showed the code for \(handle).",
                "On their device, they have to run 'signet people verify' "
                    + "with your handle.")
        case .theirKeyDiffers:
            Sentence("ALARM: the identity key of \(peer) is not the one that the directory gave you.", alarm)
        case .ownKeyDiffers:
            Sentence("ALARM: the directory gave \(peer) an identity key for you that is not yours.", alarm)
        }
    }
}

extension ContactCardError {
    var sentence: Sentence {
        switch self {
        case .malformed: Sentence("That is not a contact card.", "Ask for one made with 'signet people card'.")
        case .invalidSignature:
            Sentence("The contact card was changed in transit.", "Ask for it again, handed over in person.")
        case .checkpoint:
            Sentence("The contact card belongs to another directory.", "Ask for one for the directory that you use.")
        }
    }
}

extension ContactCardMismatch {
    var sentence: Sentence {
        let remedy = "Nothing was pinned. Ask them, face to face: either the card is not theirs, or the directory lies."
        return switch self {
        case .anotherPerson(let handle):
            Sentence("The contact card belongs to \(handle).", "Name that person, or use another card.")
        case .anotherIdentity:
            Sentence("ALARM: the directory shows a different identity from the contact card.", remedy)
        case .olderThanTheCard(let card, let shown):
            Sentence(
                "ALARM: the directory shows version \(shown) of the account, but the contact card is for version "
                    + "\(card).",
                remedy)
        case .anotherState(let version):
            Sentence(
                "ALARM: the directory's version \(version) of the account is not the one on the contact card.",
                remedy)
        }
    }
}
