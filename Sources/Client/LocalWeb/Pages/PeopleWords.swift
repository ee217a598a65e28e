// SPDX-License-Identifier: Apache-2.0

import Signet

/// The lines below a person's name, and what the badges mean.
enum PeopleWords {
    /// What is to be known of a person in a list.
    static func line(_ entry: PersonEntry, _ wording: any WebWording, _ now: UInt64) -> String {
        if entry.asks { return "Would like to be on your list. Anyone can ask: accept only people whom you know." }
        switch entry.seen?.finding {
        case .changed(let change):
            let rest = change.change.isAlarming ? "Everything is stopped." : "Nothing is sent until you have decided."
            return "\(wording.words(change.change).sentence). \(rest)"
        case .contradicted, .refused: return "The directory’s answer about them is not true. Everything is stopped."
        case .closed: return "Their account was closed."
        case .absent, .matched, nil: break
        }
        if entry.state == .alarm { return "The directory showed them another log than you." }
        switch entry.person.comparison {
        case .compared(let comparison): return wording.words(comparison)
        case .outdated(let comparison):
            return "\(wording.words(comparison)) Their identity has changed since: compare again."
        case .none: break
        }
        guard let pinned = entry.person.pinned else { return "You asked them; nothing of theirs is accepted yet." }
        let devices = pinned.devices.count == 1 ? "1 device" : "\(pinned.devices.count) devices"
        let asked = entry.person.status == .requested ? " They have not accepted yet." : ""
        return "\(devices), accepted \(WebTime.day(pinned.pinnedAt, now)). Not compared yet.\(asked)"
    }

    /// The five marks.
    static let legend: HTML = {
        let rows: [(TrustState, HTML)] = [
            (.compared, "The two of you compared a number or a code. The strongest there is."),
            (.known, "The same devices as when you accepted them. Not compared yet."),
            (.new, "Accepted since yesterday. The log is in order; that it is them, only they can show."),
            (.changed, "Their devices are other ones now. Usually a new phone. Nothing is sent until you agree."),
            (.alarm, "Something that no honest directory shows. Nothing is sent, and there is no way around it here."),
        ]
        let items = rows.map { "<li class=\"row\">\(Part.badge($0))<p class=\"grow\">\($1)</p></li>" as HTML }
        return "<details><summary>What the marks mean</summary><ul class=\"list\">\(items)</ul></details>"
    }()
}
