// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Signet

/// The pages and actions of the app: a closed set, whose paths are printed and read only in this file.
enum WebRoute: Hashable, Sendable {
    case home, unlock, lock, people, addPerson
    case person(Handle), accept(Handle), block(Handle), compare(Handle), change(Handle), checks(Handle), proof(Handle)
    case checkProof
    case notes, newNote, sync
    case note(NoteID), edit(NoteID), share(NoteID), comment(NoteID), star(NoteID)
    case unshare(NoteID), leave(NoteID), history(NoteID), file(NoteID)
    case guardians, chooseGuardians, askGuardians, careForGuardians, askGuardiansAll, recovery
    case guardian(Handle), decline(Handle)
    case devices, addDevice, removeDevice(UInt16), settings
    case calls, newCall, answerCall, call, steerCall
    case cards, showCard, ownCard, showOwnCard, walletCard, carriedCards, offeredCard
    case sites, knownSites, contactCard
    case meetingReceipt
    case meet, showMeeting, joinMeeting, meetingWords, endMeeting
    case attach(NoteID), detach(NoteID), exportNotes
    /// What a home without an account shows.
    case start, first(FirstStep)

    /// The parts of the path.
    var parts: [String] {
        switch self {
        case .home: []
        case .unlock: ["unlock"]
        case .lock: ["lock"]
        case .people: ["people"]
        case .addPerson: ["people", "add"]
        case .person(let handle): ["people", handle.description]
        case .accept(let handle): ["people", handle.description, "accept"]
        case .block(let handle): ["people", handle.description, "block"]
        case .compare(let handle): ["people", handle.description, "compare"]
        case .change(let handle): ["people", handle.description, "change"]
        case .checks(let handle): ["people", handle.description, "checks"]
        case .proof(let handle): ["people", handle.description, "proof"]
        case .checkProof: ["proof"]
        case .notes: ["notes"]
        case .newNote: ["notes", "new"]
        case .sync: ["notes", "sync"]
        case .note(let note): ["notes", note.digits]
        case .edit(let note): ["notes", note.digits, "edit"]
        case .share(let note): ["notes", note.digits, "share"]
        case .comment(let note): ["notes", note.digits, "comment"]
        case .star(let note): ["notes", note.digits, "star"]
        case .unshare(let note): ["notes", note.digits, "unshare"]
        case .leave(let note): ["notes", note.digits, "leave"]
        case .history(let note): ["notes", note.digits, "history"]
        case .file(let note): ["notes", note.digits, "file"]
        case .guardians: ["guardians"]
        case .chooseGuardians: ["guardians", "choose"]
        case .askGuardians: ["guardians", "ask"]
        case .careForGuardians: ["guardians", "care"]
        case .askGuardiansAll: ["guardians", "all"]
        case .recovery: ["recovery"]
        case .guardian(let owner): ["guardian", owner.description]
        case .decline(let owner): ["guardian", owner.description, "decline"]
        case .devices: ["devices"]
        case .addDevice: ["devices", "add"]
        case .removeDevice(let number): ["devices", "\(number)", "remove"]
        case .settings: ["settings"]
        case .calls: ["calls"]
        case .newCall: ["calls", "new"]
        case .answerCall: ["calls", "answer"]
        case .call: ["calls", "now"]
        case .steerCall: ["calls", "now", "steer"]
        case .cards: ["cards"]
        case .showCard: ["cards", "show"]
        case .ownCard: ["cards", "own"]
        case .showOwnCard: ["cards", "shown"]
        case .walletCard: ["cards", "wallet"]
        case .carriedCards: ["cards", "carried"]
        case .offeredCard: ["cards", "offer"]
        case .meet: ["meet"]
        case .showMeeting: ["meet", "show"]
        case .joinMeeting: ["meet", "join"]
        case .meetingWords: ["meet", "words"]
        case .endMeeting: ["meet", "end"]
        case .meetingReceipt: ["meet", "receipt"]
        case .sites: ["sites"]
        case .knownSites: ["sites", "known"]
        case .contactCard: ["people", "card"]
        case .attach(let note): ["notes", note.digits, "attach"]
        case .detach(let note): ["notes", note.digits, "detach"]
        case .exportNotes: ["notes", "export"]
        case .start: ["start"]
        case .first(let step): ["start", step.rawValue]
        }
    }

    /// The route of a path's parts; nil if there is none.
    init?(_ parts: [String]) {
        let rest = parts.dropFirst(2).first
        switch (parts.first, parts.count) {
        case (nil, 0): self = .home
        case (_, 1): self.init(word: parts[0])
        case (_, 2...3) where Self.fixed[parts] != nil: self = Self.fixed[parts] ?? .home
        case ("start", 2):
            guard let step = FirstStep(rawValue: parts[1]) else { return nil }
            self = .first(step)
        case ("devices", 3):
            guard let number = UInt16(parts[1]), "\(number)" == parts[1], rest == "remove" else { return nil }
            self = .removeDevice(number)
        case ("guardian", 2...3):
            guard let owner = try? Handle(parts[1]), rest == nil || rest == "decline" else { return nil }
            self = rest == nil ? .guardian(owner) : .decline(owner)
        case ("people", 2...3):
            guard let handle = try? Handle(parts[1]) else { return nil }
            self.init(handle, rest)
        case ("notes", 2...3):
            guard let note = NoteID(digits: parts[1]) else { return nil }
            self.init(note, rest)
        default: return nil
        }
    }

    private init?(word: String) {
        guard let route = Self.fixed[[word]] else { return nil }
        self = route
    }

    /// The routes that name nothing of the account.
    private static let fixed: [[String]: WebRoute] = {
        let routes: [WebRoute] = [
            .unlock, .lock, .people, .addPerson, .contactCard, .checkProof, .notes, .newNote, .sync, .exportNotes,
            .calls, .newCall,
            .answerCall, .call, .steerCall, .guardians, .chooseGuardians, .askGuardians, .careForGuardians,
            .askGuardiansAll, .recovery, .devices,
            .addDevice,
            .settings, .start, .cards, .showCard, .ownCard, .showOwnCard, .walletCard, .carriedCards, .offeredCard,
            .sites,
            .knownSites, .meet, .showMeeting, .joinMeeting, .meetingWords, .endMeeting, .meetingReceipt,
        ]
        return Dictionary(uniqueKeysWithValues: routes.map { ($0.parts, $0) })
    }()

    private init?(_ handle: Handle, _ act: String?) {
        switch act {
        case nil: self = .person(handle)
        case "accept": self = .accept(handle)
        case "block": self = .block(handle)
        case "compare": self = .compare(handle)
        case "change": self = .change(handle)
        case "checks": self = .checks(handle)
        case "proof": self = .proof(handle)
        default: return nil
        }
    }

    private init?(_ note: NoteID, _ act: String?) {
        switch act {
        case nil: self = .note(note)
        case "edit": self = .edit(note)
        case "share": self = .share(note)
        case "comment": self = .comment(note)
        case "star": self = .star(note)
        case "unshare": self = .unshare(note)
        case "leave": self = .leave(note)
        case "history": self = .history(note)
        case "file": self = .file(note)
        case "attach": self = .attach(note)
        case "detach": self = .detach(note)
        default: return nil
        }
    }

    /// The page that has the form of an action without a page of its own.
    var page: WebRoute {
        switch self {
        case .lock: .home
        case .addPerson: .people
        case .accept, .block: .people
        case .askGuardiansAll: .careForGuardians
        case .proof(let handle): .checks(handle)
        case .sync: .notes
        case .newCall, .answerCall: .calls
        case .steerCall: .call
        case .comment(let note), .star(let note), .file(let note), .detach(let note): .note(note)
        case .showOwnCard, .walletCard: .ownCard
        case .carriedCards: .cards
        case .knownSites: .sites
        case .showMeeting, .joinMeeting, .meetingWords, .endMeeting, .meetingReceipt: .meet
        case .first(let step): .first(step.page)
        default: self
        }
    }
}

/// The pages and actions of a home without an account.
enum FirstStep: String, Hashable, Sendable, CaseIterable {
    /// A new identity; another device of an existing one; an identity from guardians.
    case new, join, recover
    /// Of joining: the card as a file, another card, the digits of the other device.
    case card, remake, confirm
    /// Of recovering: going on after a break, naming guardians, the end.
    case resume, guardians, finish

    /// The page that has the form of an action.
    var page: FirstStep {
        switch self {
        case .new: .new
        case .join, .card, .remake, .confirm: .join
        case .recover, .resume, .guardians, .finish: .recover
        }
    }
}

/// A path of this process, ready for an attribute or a header. Only routes and assets make one, so that no text that came from outside
/// becomes a link.
struct WebPath: Hashable, Sendable {
    let text: String

    /// The path of a route below the session's part.
    init(_ route: WebRoute, below mount: String, _ query: [(String, String)] = []) {
        let path = "/" + ([mount] + route.parts).map(PercentCoding.encode).joined(separator: "/")
        let pairs = query.map { "\(PercentCoding.encode($0.0))=\(PercentCoding.encode($0.1))" }
        text = (route == .home ? path + "/" : path) + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }

    /// The path of a file of the program.
    init(asset name: StaticString) { text = "/assets/\(WebAssets.version)/\(name)" }
}

/// Percent-encoding (RFC 3986).
enum PercentCoding {
    static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "@"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + String(decoding: Hex.encode([byte]), as: UTF8.self).uppercased()
            }
        }
        return encoded
    }

    /// The text of an encoded one; nil if it is not encoded, or is not UTF-8.
    ///
    /// - Parameter isForm: whether a plus sign is a space.
    static func decode(_ encoded: some Sequence<UInt8>, isForm: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = encoded.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let first = rest.next(), let second = rest.next(),
                    let decoded = try? Hex.decode([first, second].map(lowercased))
                else { return nil }
                bytes += decoded
            case UInt8(ascii: "+") where isForm: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte) ? byte | 0x20 : byte
    }
}

extension NoteID {
    /// 32 hexadecimal digits.
    var digits: String { String(decoding: Hex.encode(bytes), as: UTF8.self) }

    init?(digits: String) {
        guard digits.utf8.count == 2 * Self.byteCount, let bytes = try? Hex.decode(Array(digits.utf8)) else {
            return nil
        }
        self.init(bytes)
    }
}
