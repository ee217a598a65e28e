// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyPinning
import KeyTransparency
import ProtocolTesting
import SignetAPI
import Testing
import TransparencyLog
import VerifiableMap

/// The pins of a directory's server: their file, and who may put others in their place.
@Suite struct DirectoryPinsTests {
    // MARK: From the log

    @Test func theNewestTakeThePlaceOfOlderOnes() throws {
        let logged = try PaperPins(3)
        for known in logged.versions {
            let pins = try PinsVerifier(logged.profile(known)).verify(logged.answer(), in: logged.epoch())
            #expect(pins == logged.versions[2])
        }
        let unmarked = DirectoryProfile(
            url: "https://localhost", tlsRoot: [], pins: [], trust: try logged.directory.trust())
        #expect(try PinsVerifier(unmarked).verify(logged.answer(), in: logged.epoch()).version == 3)
    }

    /// Whoever holds the server's keys shows one client the pins of before, the TLS key of which they have.
    @Test func olderPinsAreNotTheNewest() throws {
        let logged = try PaperPins(3)
        let (verifier, old) = (PinsVerifier(try logged.profile(logged.versions[0])), logged.versions[1])
        let (answer, epoch) = (try logged.answer(old), try logged.epoch())
        #expect { try verifier.verify(answer, in: epoch) } throws: { error in
            if case DirectoryPinsError.notLogged(.history) = error { true } else { false }
        }
        let (past, now) = (try PaperPins(2).answer(), try logged.epoch())
        #expect { try verifier.verify(past, in: now) } throws: { error in
            if case DirectoryPinsError.notLogged(.index) = error { true } else { false }
        }
    }

    /// Pins that were made for one client, and logged nowhere.
    @Test func pinsThatAreNotInTheLogAreRefused() throws {
        let logged = try PaperPins(1)
        let (answer, epoch) = (try logged.answer(logged.pins(1, 77)), try logged.epoch())
        let verifier = PinsVerifier(try logged.profile(logged.versions[0]))
        #expect { try verifier.verify(answer, in: epoch) } throws: { error in
            if case DirectoryPinsError.notLogged(.history) = error { true } else { false }
        }
    }

    /// A log whose index was set back for an epoch: what the client remembers shows it.
    @Test func aVersionNeverGoesBack() throws {
        let (long, short) = (try PaperPins(3), try PaperPins(2))
        let verifier = PinsVerifier(try short.profile(long.versions[2]))
        let (answer, epoch) = (try short.answer(), try short.epoch())
        #expect(throws: DirectoryPinsError.older(known: 3, shown: 2)) { try verifier.verify(answer, in: epoch) }
    }

    @Test func oneVersionHasOneText() throws {
        var other = try PaperPins(0)
        try other.log(other.pins(1, 77))
        let verifier = PinsVerifier(try other.profile(PaperPins(1).versions[0]))
        let (answer, epoch) = (try other.answer(), try other.epoch())
        #expect(throws: DirectoryPinsError.replaced(version: 1)) { try verifier.verify(answer, in: epoch) }
    }

    /// A version that skips numbers would leave clients behind for ever.
    @Test func theVersionIsTheNumberOfTheRecord() throws {
        var logged = try PaperPins(1)
        try logged.log(logged.pins(9))
        let verifier = PinsVerifier(try logged.profile(logged.versions[0]))
        let (answer, epoch) = (try logged.answer(), try logged.epoch())
        #expect(throws: DirectoryPinsError.otherVersion(logged: 2, stated: 9)) {
            try verifier.verify(answer, in: epoch)
        }
    }

    @Test func onlyTheLogsKeySigns() throws {
        let logged = try PaperPins(1)
        let (verifier, epoch) = (PinsVerifier(try logged.profile(logged.versions[0])), try logged.epoch())
        for stranger in [try PaperPins.recovery(), try PaperDirectory.signer(PaperDirectory.origin, .ed25519, seed: 8)]
        {
            let answer = try logged.answer(by: stranger)
            #expect(throws: DirectoryPinsError.notSigned) { try verifier.verify(answer, in: epoch) }
        }
    }

    @Test func pinsOfAnotherDirectoryAreRefused() throws {
        var logged = try PaperPins(0)
        let own = try logged.pins(1)
        try logged.log(
            DirectoryPins(
                origin: KeyName(Array("elsewhere.example/log".utf8)), version: 1, time: own.time, server: own.server))
        let verifier = PinsVerifier(try logged.profile(own))
        let (answer, epoch) = (try logged.answer(), try logged.epoch())
        #expect(throws: DirectoryPinsError.otherOrigin) { try verifier.verify(answer, in: epoch) }
        let file = try logged.versions[0].note(by: PaperPins.recovery())
        #expect(throws: DirectoryPinsError.otherOrigin) { try verifier.verify(file: file) }
    }

    // MARK: From a file

    @Test func aFileNeedsTheRecoveryKeyAndANewerVersion() throws {
        let logged = try PaperPins(1)
        let (known, next) = (logged.versions[0], try logged.pins(2))
        let (verifier, recovery) = (PinsVerifier(try logged.profile(known)), try PaperPins.recovery())
        #expect(try verifier.verify(file: next.note(by: recovery)) == next)
        let (byLog, old) = (try next.note(by: logged.directory.log), try known.note(by: recovery))
        #expect(throws: DirectoryPinsError.notSigned) { try verifier.verify(file: byLog) }
        #expect(throws: DirectoryPinsError.known(version: 1)) { try verifier.verify(file: old) }
        let other = try logged.pins(1, 77)
        #expect(try verifier.verify(file: other.note(by: recovery)) == other, "the log has one of them at most")
        let bare = DirectoryProfile(
            url: "https://localhost", tlsRoot: [], pins: [], trust: try logged.directory.trust())
        #expect(throws: DirectoryPinsError.noRecoveryKey) {
            try PinsVerifier(bare).verify(file: next.note(by: recovery))
        }
    }

    /// Nobody has signed it, so it changes nothing but the pins by which the log is asked.
    @Test func ofADirectoryFileOnlyNewerPinsOfTheSameLogCount() throws {
        let logged = try PaperPins(1)
        let own = try logged.profile(logged.versions[0])
        let (verifier, next) = (PinsVerifier(own), try logged.profile(try logged.pins(2)))
        let trust = own.trust
        let other = DirectoryTrust(
            policy: try Policy(
                logs: [Policy.Log(key: PaperDirectory.signer("elsewhere.example/log", .ed25519, seed: 8).verifierKey)],
                witnesses: trust.policy.witnesses, groups: trust.policy.groups, quorum: trust.policy.quorum),
            vrfKey: trust.vrfKey, freshness: trust.freshness)
        let moved = DirectoryProfile(
            url: "https://elsewhere.example", server: next.server, mark: next.mark, trust: trust)
        let candidate = try verifier.candidate(from: moved)
        #expect(candidate == DirectoryProfile(url: own.url, server: next.server, mark: own.mark, trust: trust))
        #expect(throws: DirectoryPinsError.known(version: 1)) { try verifier.candidate(from: own) }
        let foreign = DirectoryProfile(url: own.url, server: next.server, mark: next.mark, trust: other)
        #expect(throws: DirectoryPinsError.otherOrigin) { try verifier.candidate(from: foreign) }
    }

    /// Two files were made under one version: the log has to have the file's, whatever is in use.
    @Test func ofTwoFilesUnderOneVersionTheLogsIsTaken() throws {
        let logged = try PaperPins(2)
        let (kept, lost) = (logged.versions[1], try logged.pins(2, 77))
        let (answer, epoch) = (try logged.answer(), try logged.epoch())
        let right = try PinsVerifier(logged.profile(lost)).candidate(from: logged.profile(kept))
        #expect(right == (try logged.profile(kept)))
        #expect(try PinsVerifier(right).verify(answer, in: epoch) == kept)
        for inUse in [kept, try logged.pins(2, 78)] {
            let wrong = try PinsVerifier(logged.profile(inUse)).candidate(from: logged.profile(lost))
            #expect(throws: DirectoryPinsError.replaced(version: 2)) {
                try PinsVerifier(wrong).verify(answer, in: epoch)
            }
        }
        let older = try PinsVerifier(logged.profile(kept))
        #expect(throws: DirectoryPinsError.known(version: 1)) {
            try older.candidate(from: logged.profile(logged.pins(1, 77)))
        }
    }

    // MARK: Forms

    @Test func textAndAnswersReadBack() throws {
        let logged = try PaperPins(2)
        #expect(try DirectoryPins(decoding: logged.versions[1].text) == logged.versions[1])
        let profile = try logged.profile(logged.versions[1])
        #expect(try DirectoryProfile(decoding: profile.encoded) == profile)
        for answer in [PinsAnswer.pins(try logged.answer()), .anotherEpoch] {
            let bytes = answer.encoded
            #expect(try PinsAnswer(decoding: bytes) == answer)
            for count in 0..<bytes.count {
                #expect(throws: PinsMessageError.self, "cut to \(count)") {
                    try PinsAnswer(decoding: Array(bytes.prefix(count)))
                }
            }
            #expect(throws: PinsMessageError.self) { try PinsAnswer(decoding: bytes + [0]) }
        }
        let long = [1] + ByteWriter.block(of: DirectoryPins.maximumByteCount + 1)
        #expect(throws: PinsMessageError.invalidField) { try PinsAnswer(decoding: long) }
    }

    @Test func everyTruncationIsRefused() throws {
        let text = try PaperPins(1).versions[0].text
        // Where a line may be missing.
        let ends = try ["tls-pin", "tls-backup", "tls-recovery"].map { name in
            try #require(text.firstRange(of: Array(name.utf8))).lowerBound
        }
        for count in 0..<text.count where !ends.contains(count) {
            #expect(throws: DirectoryProfileError.self, "cut to \(count)") {
                try DirectoryPins(decoding: Array(text.prefix(count)))
            }
        }
    }

    @Test(arguments: [
        ("pins/v1", "pins/v2", DirectoryProfileError.unknownFormat), ("origin d", "origin  d", .invalidLine("origin")),
        ("version 1", "version 0", .invalidLine("version")), ("version 1", "version 01", .invalidLine("version")),
        ("time 1", "time +1", .invalidLine("time")), ("tls-root M", "tls-root *", .invalidLine("tls-root")),
        ("tls-pin leaf", "tls-pin left", .invalidLine("tls-pin")),
        ("tls-recovery directory", "tls-recovery elsewhere", .invalidLine("tls-recovery")),
        ("tls-recovery d", "tls-spare d", .bytesLeft),
    ]) func namesTheFaultyLine(part: String, other: String, expected: DirectoryProfileError) throws {
        let text = String(decoding: try PaperPins(1).versions[0].text, as: UTF8.self)
        let edited = text.replacing(part, with: other, maxReplacements: 1)
        #expect(edited != text)
        #expect(throws: expected) { try DirectoryPins(decoding: Array(edited.utf8)) }
    }

    @Test(arguments: [
        ("record", DirectoryProfileError.invalidLine("tls-proxies")), ("refuse ", .invalidLine("tls-proxies")),
        ("", .invalidLine("tls-proxies")), ("refuse\ntls-proxies refuse", .bytesLeft),
    ])
    func onlyTheRefusalOfProxiesHasALine(value: String, expected: DirectoryProfileError) throws {
        let pins = try PaperPins(1).versions[0]
        let strict = DirectoryPins(
            origin: pins.origin, version: 1, time: pins.time, server: pins.server.with(proxies: .refuse))
        #expect(strict.text == pins.text + Array("tls-proxies refuse\n".utf8))
        #expect(try DirectoryPins(decoding: strict.text) == strict)
        #expect(throws: expected) {
            try DirectoryPins(decoding: pins.text + Array("tls-proxies \(value)\n".utf8))
        }
    }

    @Test func aLongTextIsRefusedUnread() {
        let count = DirectoryPins.maximumByteCount + 1
        #expect(throws: DirectoryProfileError.tooLong(count)) {
            try DirectoryPins(decoding: [UInt8](repeating: 10, count: count))
        }
    }
}

extension ByteWriter {
    /// A u32 length and as many bytes.
    fileprivate static func block(of count: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt32(truncatingIfNeeded: count))
        writer.write([UInt8](repeating: 10, count: count))
        return writer.bytes
    }
}
