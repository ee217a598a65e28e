// SPDX-License-Identifier: Apache-2.0

import Signet

/// How well this device knows a person, in the five words of the app.
enum TrustState: Hashable, Sendable, CaseIterable {
    /// Both compared a number, or one scanned the other's screen.
    case compared
    /// The same devices as the user accepted.
    case known
    /// Accepted since yesterday, or not at all yet.
    case new
    /// The devices differ from those that were accepted, or the identity was recovered: the user decides.
    case changed
    /// Something that no honest directory shows. There is no way around it here.
    case alarm

    /// For how long after acceptance a person whose keys were not compared counts as new, in seconds.
    static let newSeconds: UInt64 = 86_400

    /// The state that follows from what is pinned, what was compared and, if the directory was asked, what it showed.
    init(_ person: KnownPerson, _ seen: SeenPerson?, at now: UInt64) {
        if case .failure(.forkMet) = person.request {
            self = .alarm
            return
        }
        switch seen?.finding {
        case .contradicted, .refused: self = .alarm
        case .changed(let change): self = change.change.isAlarming ? .alarm : .changed
        case .closed where person.pinned != nil: self = .changed
        case .matched, .absent, .closed, nil: self = Self.pinned(person, at: now)
        }
    }

    private static func pinned(_ person: KnownPerson, at now: UInt64) -> TrustState {
        switch person.comparison {
        case .compared: return .compared
        case .outdated: return .changed
        case .none: break
        }
        guard let pinned = person.pinned else { return .new }
        return now < pinned.pinnedAt &+ newSeconds ? .new : .known
    }
}

extension PeerKeyChange {
    /// Whether the identity is another one, and the log does not explain it.
    var isAlarming: Bool {
        switch identity {
        case .none, .recovered: false
        case .rushed, .unexplained: true
        }
    }
}

/// What the directory showed about a person, and when.
struct SeenPerson: Sendable {
    enum Finding: Sendable {
        case matched
        case changed(KeyChange)
        case contradicted
        case refused(LookupRefusal)
        case absent
        case closed
    }

    let finding: Finding
    let time: UInt64

    init(_ result: Result<LookupAnswer, LookupRefusal>, at now: UInt64) {
        time = now
        switch result {
        case .failure(let refusal): finding = .refused(refusal)
        case .success(.absent): finding = .absent
        case .success(.closed): finding = .closed
        case .success(.registered(let verdict)):
            switch verdict.outcome {
            case .changed: finding = verdict.keyChange.map { .changed($0) } ?? .matched
            case .contradicted: finding = .contradicted
            case .matched, .firstPinned, .accepted, .stranger: finding = .matched
            }
        }
    }
}
