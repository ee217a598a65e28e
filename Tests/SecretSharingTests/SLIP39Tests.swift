// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import SecretMemory
import SeededRandomness
import Testing

@testable import SecretSharing

@Suite struct SLIP39VectorTests {
    @Test(.enabled(if: OutsideVectors.arePresent, "the outside vectors are not here"))
    func all45PublishedCasesAgree() throws {
        let cases = try OutsideVectors.json("slip39/vectors.json") as? [[Any]] ?? []
        var (recovered, refused) = (0, 0)
        for entry in cases {
            let name = entry[0] as? String ?? ""
            let expected = try Hex.decode(bytes(entry[2] as? String ?? ""))
            let found = secret(of: entry[1] as? [String] ?? [])
            #expect(found == expected, "\(name)")
            if found.isEmpty { refused += 1 } else { recovered += 1 }
        }
        #expect(recovered == 15 && refused == 30)
    }

    /// Empty when the mnemonics are refused.
    private func secret(of mnemonics: [String]) -> [UInt8] {
        do {
            let shares = try mnemonics.map { text throws in try SLIP39Share(decoding: bytes(text)) }
            return try SecretBytes.recovered(from: shares, passphrase: bytes("TREZOR")).exposed
        } catch { return [] }
    }

    @Test(.enabled(if: OutsideVectors.arePresent, "the outside vectors are not here"))
    func everyPublishedMnemonicIsPrintedAgain() throws {
        for entry in try OutsideVectors.json("slip39/vectors.json") as? [[Any]] ?? [] {
            for text in entry[1] as? [String] ?? [] {
                guard let share = try? SLIP39Share(decoding: bytes(text)) else { continue }
                #expect(share.encoded == bytes(text))
            }
        }
    }
}

@Suite struct SLIP39Tests {
    private func secret(_ count: Int) -> SecretBytes {
        let bytes = (0..<count).map { UInt8($0 * 7 & 255) }
        return SecretBytes(copying: bytes.span)
    }

    private func set(
        _ groups: [(Int, Int)], _ threshold: Int, count: Int = 32, passphrase: String = ""
    ) throws -> SLIP39Set {
        var generator = SeededGenerator(seed: 21)
        let (secret, passphrase) = (secret(count), bytes(passphrase))
        let cut = groups.map { SLIP39Set.Group(threshold: $0.0, count: $0.1) }
        return try SLIP39Set(
            of: secret, groups: cut, groupThreshold: threshold, identifier: 0x1234, iterationExponent: 0,
            passphrase: passphrase, using: &generator)
    }

    @Test(arguments: [16, 18, 32, 34, 62, 64]) func everyLengthComesBack(_ count: Int) throws {
        let shares = try set([(2, 3)], 1, count: count).groups[0]
        for pair in choices(of: 2, below: 3) {
            let read = try pair.map { position throws in try SLIP39Share(decoding: shares[position].encoded) }
            #expect(try SecretBytes.recovered(from: read).exposed == secret(count).exposed)
        }
    }

    @Test func groupsAreRecoveredFromTheirThresholds() throws {
        let made = try set([(1, 1), (2, 3), (3, 5)], 2)
        let chosen = [made.groups[1][0], made.groups[1][2], made.groups[2][0], made.groups[2][2], made.groups[2][4]]
        #expect(try SecretBytes.recovered(from: chosen).exposed == secret(32).exposed)
        #expect(try SecretBytes.recovered(from: [made.groups[0][0]] + chosen.prefix(2)).exposed == secret(32).exposed)
    }

    @Test func anotherPassphraseGivesAnotherSecret() throws {
        let share = try set([(1, 1)], 1, passphrase: "right").groups[0]
        #expect(try SecretBytes.recovered(from: share, passphrase: bytes("right")).exposed == secret(32).exposed)
        #expect(try SecretBytes.recovered(from: share, passphrase: bytes("wrong")).exposed != secret(32).exposed)
        #expect(throws: SLIP39RecoveryError.invalidPassphrase) {
            try SecretBytes.recovered(from: share, passphrase: [0xC3, 0xA9])
        }
    }

    @Test func aWrongWordIsNamedByItsPosition() throws {
        var words = try set([(1, 1)], 1).groups[0][0].encoded.split(separator: 0x20).map(Array.init)
        words[5] = bytes("zebra")
        #expect(throws: SLIP39Error.unknownWord(position: 5)) {
            try SLIP39Share(decoding: Array(words.joined(separator: [0x20])))
        }
    }

    @Test func anyChangedWordBreaksTheChecksum() throws {
        let words = try set([(1, 1)], 1).groups[0][0].encoded.split(separator: 0x20).map(Array.init)
        for position in words.indices {
            var other = words
            other[position] = words[position] == bytes("academic") ? bytes("acid") : bytes("academic")
            #expect(throws: SLIP39Error.self) {
                try SLIP39Share(decoding: Array(other.joined(separator: [0x20])))
            }
        }
    }

    @Test(arguments: ["", " ", "academic", "academic  acid", "Academic", "academic "])
    func aTextThatIsNoMnemonicIsRefused(_ text: String) {
        #expect(throws: SLIP39Error.self) { try SLIP39Share(decoding: bytes(text)) }
    }

    @Test func typedWordsMayBeInAnyCaseAndOnSeveralLines() throws {
        let share = try set([(1, 1)], 1).groups[0][0]
        let text = String(decoding: share.encoded, as: UTF8.self)
        let typed = "  " + text.uppercased().replacing(" ", with: "\n\t ") + "\r\n"
        #expect(try SLIP39Share(typed: bytes(typed)).encoded == share.encoded)
    }

    @Test func tooMuchStretchingIsRefusedBeforeItIsDone() throws {
        var generator = SeededGenerator(seed: 22)
        let header = SLIP39SetHeader(
            identifier: 1, isExtendable: true, iterationExponent: 15, groupThreshold: 1, groupCount: 1)
        let share = SLIP39Share(
            set: header, groupIndex: 0, memberIndex: 0, memberThreshold: 1, value: secret(32))
        #expect(throws: SLIP39RecoveryError.tooManyIterations(exponent: 15)) {
            try SecretBytes.recovered(from: [share])
        }
        #expect(throws: SLIP39SetError.invalidHeader) {
            try SLIP39Set(
                of: secret(32), groups: [.init(threshold: 1, count: 1)], groupThreshold: 1, identifier: 1,
                iterationExponent: 16, using: &generator)
        }
    }

    @Test(arguments: [0, 14, 15, 17, 31, 65, 66]) func aSecretOfAnotherLengthIsRefused(_ count: Int) {
        #expect(throws: SLIP39SetError.invalidSecretLength(count)) { try set([(1, 1)], 1, count: count) }
    }

    @Test func groupsThatCannotBeMetAreRefused() {
        let wrong: [([(Int, Int)], Int)] = [
            ([], 1), ([(1, 1)], 2), ([(1, 1)], 0), ([(3, 2)], 1), ([(0, 1)], 1), ([(1, 2)], 1), ([(2, 17)], 1),
            (Array(repeating: (1, 1), count: 17), 1),
        ]
        for (groups, threshold) in wrong {
            #expect(throws: SLIP39SetError.invalidGroups) { try set(groups, threshold) }
        }
    }

    @Test func everyByteTimesItsInverseIsOne() {
        #expect(ByteField.inverse(0) == 0)
        for value in UInt8(1)...255 { #expect(ByteField.product(value, ByteField.inverse(value)) == 1) }
        // FIPS 197, section 4.2: {57} · {83} = {c1}, {57} · {13} = {fe}.
        #expect(ByteField.product(0x57, 0x83) == 0xC1 && ByteField.product(0x57, 0x13) == 0xFE)
    }

    @Test func theWordListIsInOrderAndItsFirstFourLettersAreUnique() {
        let words = SLIP39Words.all
        #expect(words.count == 1024)
        #expect(zip(words, words.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        #expect(Set(words.map { Array($0.prefix(4)) }).count == 1024)
        for (number, word) in words.enumerated() { #expect(SLIP39Words.number(of: word) == UInt16(number)) }
    }
}

@Suite struct PaperShareTests {
    private func deal() throws -> (ShareCommitments, [SecretShare]) {
        var generator = SeededGenerator(seed: 31)
        let indices = ShareIndex.random(count: 3, in: PaperShare.places, using: &generator)
        let secret = SecretScalar.random(using: &generator)
        let dealing = try Dealing(of: secret, threshold: 2, at: indices, using: &generator)
        return (dealing.commitments, dealing.shares)
    }

    @Test func aShareOnPaperComesBackWithItsPlace() throws {
        let (commitments, shares) = try deal()
        for share in shares {
            let words = try PaperShare.words(for: share)
            #expect(words.split(separator: 0x20).count == 33)
            let read = try PaperShare.share(typed: words)
            #expect(read.index == share.index && read.scalar.exposed == share.scalar.exposed)
            #expect(throws: Never.self) { try commitments.verify(read) }
        }
    }

    @Test func aPlaceBeyondTheWordsIsRefused() throws {
        let share = SecretShare(index: try index(0x8000), scalar: .random())
        #expect(throws: PaperShareError.placeTooHigh) { try PaperShare.words(for: share) }
    }

    @Test func shareOnPaper_refusesAnotherMnemonic() throws {
        var generator = SeededGenerator(seed: 32)
        let bytes16 = [UInt8](repeating: 3, count: 16)
        let other = try SLIP39Set(
            of: SecretBytes(copying: bytes16.span), groups: [.init(threshold: 1, count: 1)], groupThreshold: 1,
            identifier: 5, iterationExponent: 0, using: &generator)
        #expect(throws: PaperShareError.notAShare) { try PaperShare.share(typed: other.groups[0][0].encoded) }
        #expect(throws: PaperShareError.words(.unknownWord(position: 0))) {
            try PaperShare.share(typed: bytes("hello world"))
        }
    }
}
