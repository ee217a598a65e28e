// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import KeyTransparency
import SignetAPI
import TransparencyLog

/// Pins that are to be taken, and ones with one fault each.
enum PinsCases {
    static func all() throws -> [PinsVector] {
        try good() + forms() + signatures() + texts() + places() + versions() + files()
    }

    // MARK: Good ones

    private static func good() throws -> [PinsVector] {
        let (one, three) = (try PaperPins(1), try PaperPins(3))
        var plain = try PaperPins(0)
        try plain.log(plain.pins(1, hasRecovery: false))
        return [
            try taken("first", "the first version, by a client that took none from the log", one, knowing: nil),
            try taken("same", "those in use once more", one, knowing: one.versions[0]),
            try taken("next", "the version after the one in use", three, knowing: three.versions[1]),
            try taken("skip", "two versions after the one in use", three, knowing: three.versions[0]),
            try taken("no-recovery-key", "pins that name no recovery key", plain, knowing: nil),
            vector(
                "later", "the directory has no pins for that epoch yet", try one.profile(one.versions[0]),
                lookup: try one.lookup(), PinsAnswer.anotherEpoch.encoded, Verdict(outcome: "later")),
        ]
    }

    // MARK: Bad ones

    private static func forms() throws -> [PinsVector] {
        let paper = try PaperPins(2)
        let answer = PinsAnswer.pins(try paper.answer()).encoded
        func bad(_ name: String, _ why: String, _ bytes: [UInt8], _ check: String = "form") throws -> PinsVector {
            try refused(name, why, check, paper, bytes, knowing: paper.versions[0])
        }
        let newest = try paper.answer()
        var joined = newest.note
        joined.removeAll { $0 == UInt8(ascii: "\n") }
        let long = LoggedPins(
            note: newest.note + [UInt8](repeating: 10, count: DirectoryPins.maximumByteCount), place: newest.place)
        return [
            try bad("nothing", "no byte at all", []),
            try bad("cut", "the last hash lacks its last byte", Array(answer.dropLast())),
            try bad("left-over", "a byte follows the answer", answer + [0]),
            try bad("kind-3", "an answer of a kind that there is not", [3] + answer.dropFirst()),
            try bad("long", "the note has more than 65,536 bytes", PinsAnswer.pins(long).encoded),
            try bad(
                "no-note", "the note has no line",
                PinsAnswer.pins(LoggedPins(note: joined, place: newest.place)).encoded,
                "note"),
        ]
    }

    private static func signatures() throws -> [PinsVector] {
        let paper = try PaperPins(1)
        let namesake = try PaperDirectory.signer(PaperDirectory.origin, .ed25519, seed: 8)
        let (shown, answer) = (paper.versions[0], try paper.answer())
        var flipped = answer.note
        // In the line's base64, before the sign at its end.
        flipped[flipped.count - 10] =
            flipped[flipped.count - 10] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return try [
            (
                "recovery-key", "the recovery key signed the answer of the server",
                try paper.answer(by: PaperPins.recovery())
            ),
            ("namesake", "another key of the log's name signed", try paper.answer(by: namesake)),
            (
                "damaged-signature", "a character of the signature is another",
                LoggedPins(note: flipped, place: answer.place)
            ),
            (
                "another-text", "the log's signature is of another text",
                LoggedPins(
                    note: shown.text
                        + (try paper.pins(2).note(by: paper.directory.log)).dropFirst(try paper.pins(2).text.count),
                    place: answer.place)
            ),
        ].map { try refused($0.0, $0.1, "signature", paper, PinsAnswer.pins($0.2).encoded, knowing: nil) }
    }

    /// Each is logged and signed as it stands.
    private static func texts() throws -> [PinsVector] {
        let edits = [
            ("format", "the first line names version 2", "pins/v1", "pins/v2"),
            ("two-spaces", "two spaces after a name", "origin d", "origin  d"),
            ("version-0", "versions begin with 1", "version 1\n", "version 0\n"),
            ("leading-zero", "a number with a leading zero", "version 1\n", "version 01\n"),
            ("plus", "a number with a sign", "time 1", "time +1"),
            ("root", "the certificate is no base64", "tls-root M", "tls-root *"),
            ("tier", "a tier that there is not", "tls-pin leaf", "tls-pin left"),
            ("recovery-name", "the recovery key's number is not of its name", "tls-recovery d", "tls-recovery e"),
            ("another-line", "a line of another name", "tls-recovery d", "tls-spare d"),
        ]
        var cases = try edits.map { name, why, part, other in
            let text = String(decoding: try PaperPins(0).pins(1).text, as: UTF8.self)
            return try logged(
                "text-\(name)", why, "text", Array(text.replacing(part, with: other, maxReplacements: 1).utf8))
        }
        let own = try PaperPins(0).pins(1)
        let foreign = DirectoryPins(
            origin: try KeyName(Array("elsewhere.example/log".utf8)), version: 1, time: own.time, server: own.server)
        cases.append(try logged("another-origin", "they are another directory's", "origin", foreign.text))
        return cases
    }

    private static func places() throws -> [PinsVector] {
        let (two, three) = (try PaperPins(2), try PaperPins(3))
        let newest = try three.answer()
        /// Where the proof begins, and the position of the label's history in it.
        let start = 1 + 4 + newest.note.count
        let answer = PinsAnswer.pins(newest).encoded
        let history = start + 2 + 33 * Int(answer[start + 1])
        func bad(_ name: String, _ why: String, _ check: String, _ answer: LoggedPins) throws -> PinsVector {
            try refused(name, why, check, three, PinsAnswer.pins(answer).encoded, knowing: three.versions[0])
        }
        func edited(_ name: String, _ why: String, _ check: String, at place: Int) throws -> PinsVector {
            var bytes = answer
            bytes[place] ^= 1
            return try refused(name, why, check, three, bytes, knowing: three.versions[0])
        }
        return [
            try bad(
                "older-in-place", "the pins before the newest, in the place of the newest", "history",
                three.answer(three.versions[1])),
            try bad("not-logged", "pins that nobody logged", "history", three.answer(three.pins(3, 77))),
            try bad("older-place", "pins and place of an epoch before", "index", two.answer()),
            try edited("index-step", "a hash on the way to the index root", "index", at: history - 1),
            try edited("history-count", "one record fewer", "index", at: history + 7),
            try edited("history-root", "another root of the history", "index", at: history + 8),
            try edited("last-path", "a hash on the way to the history's root", "history", at: answer.count - 1),
        ]
    }

    private static func versions() throws -> [PinsVector] {
        let (one, two, three) = (try PaperPins(1), try PaperPins(2), try PaperPins(3))
        var (skipping, other) = (try PaperPins(1), try PaperPins(0))
        try skipping.log(skipping.pins(9))
        try other.log(other.pins(1, 77))
        return [
            try refused(
                "skips", "the second record calls itself version 9", "version", skipping,
                PinsAnswer.pins(skipping.answer()).encoded, knowing: skipping.versions[0]),
            try refused(
                "set-back", "the client had version 3, the log has two", "older", two,
                PinsAnswer.pins(two.answer()).encoded, knowing: three.versions[2]),
            try refused(
                "replaced", "the client had another version 1", "replaced", other,
                PinsAnswer.pins(other.answer()).encoded,
                knowing: one.versions[0]),
        ]
    }

    // MARK: As a file

    private static func files() throws -> [PinsVector] {
        let paper = try PaperPins(2)
        let (known, next) = (paper.versions[1], try paper.pins(3))
        let (recovery, log) = (try PaperPins.recovery(), paper.directory.log)
        let foreign = DirectoryPins(
            origin: try KeyName(Array("elsewhere.example/log".utf8)), version: 3, time: next.time, server: next.server)
        func file(
            _ name: String, _ why: String, _ pins: DirectoryPins, by signer: NoteSigner, _ verdict: Verdict,
            knowing known: DirectoryPins
        ) throws -> PinsVector {
            vector("file-\(name)", why, try paper.profile(known), lookup: nil, try pins.note(by: signer), verdict)
        }
        func bad(_ check: String) -> Verdict { Verdict(outcome: "refused", check: check) }
        return [
            try file(
                "good", "the version after the one in use, by the recovery key", next, by: recovery,
                Verdict(outcome: "taken", version: 3), knowing: known),
            try file("by-the-log", "the log's key signed a file", next, by: log, bad("signature"), knowing: known),
            try file("known", "the version in use", known, by: recovery, bad("known"), knowing: known),
            try file(
                "before", "a version before the one in use", paper.versions[0], by: recovery, bad("known"),
                knowing: known),
            try file(
                "another-origin", "another directory's pins", foreign, by: recovery, bad("origin"), knowing: known),
            try file(
                "no-key", "the pins in use name no recovery key", next, by: recovery, bad("noRecoveryKey"),
                knowing: paper.pins(2, hasRecovery: false)),
        ]
    }

    // MARK: Making cases

    private typealias Verdict = PinsVector.Verdict

    private static func taken(
        _ name: String, _ why: String, _ paper: PaperPins, knowing known: DirectoryPins?
    ) throws -> PinsVector {
        vector(
            name, why, try profile(paper, known), lookup: try paper.lookup(),
            PinsAnswer.pins(try paper.answer()).encoded,
            Verdict(outcome: "taken", version: paper.versions.last?.version))
    }

    private static func refused(
        _ name: String, _ why: String, _ check: String, _ paper: PaperPins, _ answer: [UInt8],
        knowing known: DirectoryPins?
    ) throws -> PinsVector {
        vector(
            name, why, try profile(paper, known), lookup: try paper.lookup(), answer,
            Verdict(outcome: "refused", check: check))
    }

    /// A first version of this text, which the log holds and has signed.
    private static func logged(_ name: String, _ why: String, _ check: String, _ text: [UInt8]) throws -> PinsVector {
        var paper = try PaperPins(0)
        try paper.log(text: text)
        let note = text + [UInt8(ascii: "\n")] + (try paper.directory.log.sign(text)).encoded
        let answer = PinsAnswer.pins(LoggedPins(note: note, place: try paper.place()))
        return try refused(name, why, check, paper, answer.encoded, knowing: nil)
    }

    private static func profile(_ paper: PaperPins, _ known: DirectoryPins?) throws -> DirectoryProfile {
        if let known { return try paper.profile(known) }
        let server = try paper.pins(0).server
        return DirectoryProfile(url: "https://localhost", server: server, trust: try paper.directory.trust())
    }

    private static func vector(
        _ name: String, _ why: String, _ profile: DirectoryProfile, lookup: [UInt8]?, _ answer: [UInt8],
        _ verdict: Verdict
    ) -> PinsVector {
        PinsVector(
            name: name, why: why, profile: String(decoding: profile.encoded, as: UTF8.self), now: PaperDirectory.now,
            handle: "nobody@example.org", lookup: lookup.map(LookupVector.hex), answer: LookupVector.hex(answer),
            verdict: verdict)
    }
}
