// SPDX-License-Identifier: Apache-2.0

import Testing
import VerifiableMap

/// Each test damages one thing in a good proof, so that exactly one check refuses it.
struct ProofRefusalTests {
    let entries: [MapEntry]
    let version: MapVersion
    let entry: MapEntry
    let stranger: MapKey

    init() throws {
        entries = try numbered(0..<300)
        version = try VerifiableMapTests.version(entries)
        entry = entries[17]
        stranger = try numbered(5_000).key
    }

    var presence: MapProof { version.proof(of: entry.key) }
    var absence: MapProof { version.proof(of: stranger) }

    private func steps(_ proof: MapProof) throws -> [MapPath.Step] { try #require(proof.path).steps }

    @Test func theGoodProofsPass() throws {
        #expect(try presence.verify(entry.key, in: version.root).outcome == .present(entry.value))
        #expect(try absence.verify(stranger, in: version.root).outcome == .absent)
    }

    @Test(arguments: 1..<33) func aStepCutShort(missing: Int) {
        #expect(throws: MapProofError.leftOverBytes(33 - missing)) {
            try MapProof(decoding: presence.encoded.dropLast(missing), value: entry.value)
        }
        #expect(throws: MapProofError.leftOverBytes(33 - missing)) {
            try MapProof(decoding: absence.encoded.dropLast(missing), value: nil)
        }
    }

    @Test(arguments: 1..<33) func leftOverBytes(count: Int) {
        let surplus = [UInt8](repeating: 0, count: count)
        #expect(throws: MapProofError.leftOverBytes(count)) {
            try MapProof(decoding: presence.encoded + surplus, value: entry.value)
        }
        #expect(throws: MapProofError.leftOverBytes(count)) {
            try MapProof(decoding: absence.encoded + surplus, value: nil)
        }
    }

    @Test func anotherLeafCutShort() {
        for count in 1..<64 {
            #expect(throws: MapProofError.otherLeafCutShort(byteCount: count)) {
                try MapProof(decoding: Array(absence.encoded.prefix(count)), value: nil)
            }
        }
    }

    @Test func aBitThatStaysTheSame() throws {
        var bytes = presence.encoded
        bytes[3 * 33] = bytes[2 * 33]
        #expect(throws: MapProofError.bitNotDecreasing(step: 3)) {
            try MapProof(decoding: bytes, value: entry.value)
        }
    }

    @Test func aBitThatIncreases() throws {
        var bytes = absence.encoded
        bytes[64 + 33] = bytes[64] + 1
        #expect(throws: MapProofError.bitNotDecreasing(step: 1)) { try MapProof(decoding: bytes, value: nil) }
    }

    @Test func stepsInTheOtherDirection() throws {
        let steps = try steps(presence)
        #expect(throws: MapProofError.bitNotDecreasing(step: 1)) { try MapPath(steps.reversed()) }
    }

    @Test func moreStepsThanAKeyHasBits() throws {
        let step = [UInt8](repeating: 0, count: 33)
        let path = Array(repeatElement(step, count: 257).joined())
        #expect(throws: MapProofError.pathTooLong(byteCount: 257 * 33)) {
            try MapProof(decoding: path, value: entry.value)
        }
        #expect(throws: MapProofError.pathTooLong(byteCount: 257 * 33)) {
            try MapProof(decoding: Array(absence.encoded.prefix(64)) + path, value: nil)
        }
    }

    @Test func anotherValue() throws {
        let proof = MapProof.present(value: entries[18].value, path: try #require(presence.path))
        #expect(throws: MapProofError.rootMismatch) { try proof.verify(entry.key, in: version.root) }
    }

    @Test func anotherRoot() throws {
        let root = try VerifiableMapTests.version(Array(entries.dropLast())).root
        #expect(throws: MapProofError.rootMismatch) { try presence.verify(entry.key, in: root) }
        #expect(throws: MapProofError.rootMismatch) { try absence.verify(stranger, in: root) }
    }

    @Test func anotherLabelsProof() throws {
        for other in entries where other != entry {
            #expect(throws: MapProofError.rootMismatch) {
                try version.proof(of: other.key).verify(entry.key, in: version.root)
            }
        }
    }

    @Test func absenceFromAMapThatIsNotEmpty() throws {
        let proof = try MapProof(decoding: [], value: nil)
        #expect(proof == .absentFromEmptyTrie)
        #expect(throws: MapProofError.rootMismatch) { try proof.verify(stranger, in: version.root) }
    }

    @Test func presenceInAnEmptyMap() throws {
        #expect(throws: MapProofError.rootMismatch) { try presence.verify(entry.key, in: .emptyTrie) }
    }

    /// The leaf and its path are true; they show that the key is there.
    @Test func absenceShownByTheKeysOwnLeaf() throws {
        let proof = MapProof.absent(beside: entry, path: try #require(presence.path))
        #expect(throws: MapProofError.otherKeyIsAskedKey) { try proof.verify(entry.key, in: version.root) }
    }

    /// The other leaf and its path are true; the asked key, which the map has, is elsewhere.
    @Test func absenceShownByAnyOtherLeaf() throws {
        for other in entries where other != entry {
            let path = try #require(version.proof(of: other.key).path)
            #expect {
                try MapProof.absent(beside: other, path: path).verify(entry.key, in: version.root)
            } throws: { error in
                guard case .otherKeyLeavesPath(let bit)? = error as? MapProofError else { return false }
                return path.steps.contains { $0.bit == bit }
            }
        }
    }

    @Test func absenceOfAKeyThatLeavesThePathAtOneBit() throws {
        guard case .absent(let other, let path) = absence else { throw WrongLength() }
        for step in path.steps {
            var bytes = other.key.bytes
            bytes[31] ^= 1
            bytes[Int(step.bit / 8)] ^= 0x80 >> (step.bit % 8)
            let asked = try key(bytes)
            #expect(throws: MapProofError.otherKeyLeavesPath(bit: step.bit)) {
                try absence.verify(asked, in: version.root)
            }
        }
    }

    /// A liar leaves out the step at which the asked key turns off, so that no named bit contradicts it.
    @Test func absenceWithTheTellingStepsTakenOut() throws {
        for other in entries where other != entry {
            let path = try #require(version.proof(of: other.key).path)
            let agreeing = path.steps.filter { step in
                let mask = UInt8(0x80) >> (step.bit % 8)
                return entry.key.bytes[Int(step.bit / 8)] & mask == other.key.bytes[Int(step.bit / 8)] & mask
            }
            let proof = MapProof.absent(beside: other, path: try MapPath(agreeing))
            #expect(throws: MapProofError.rootMismatch) { try proof.verify(entry.key, in: version.root) }
        }
    }

    @Test func everyPartOfAPathInPlaceOfTheWhole() throws {
        for proof in [presence, absence] {
            let steps = try steps(proof)
            for start in steps.indices {
                for end in start...steps.count where end - start < steps.count {
                    try refuse(proof, with: Array(steps[start..<end]))
                }
            }
        }
    }

    @Test func aPathWithAnyStepTakenOut() throws {
        for proof in [presence, absence] {
            let steps = try steps(proof)
            for index in steps.indices {
                var part = steps
                part.remove(at: index)
                try refuse(proof, with: part)
            }
        }
    }

    @Test func aPathWithOneMoreStep() throws {
        for proof in [presence, absence] {
            let steps = try steps(proof)
            let used = Set(steps.map(\.bit))
            for bit in UInt8.min...UInt8.max where !used.contains(bit) {
                let step = MapPath.Step(bit: bit, sibling: version.root)
                try refuse(proof, with: (steps + [step]).sorted { $0.bit > $1.bit })
            }
        }
    }

    /// Neighbours in the trie share the upper part of their paths.
    @Test func theLowerPartOfOnePathUnderTheUpperPartOfAnother() throws {
        let own = try steps(presence)
        for other in entries where other != entry {
            let foreign = try steps(version.proof(of: other.key))
            for cut in own.indices {
                let mixed = own[..<cut] + foreign.filter { step in cut == 0 || step.bit < own[cut - 1].bit }
                if Array(mixed) != own { try refuse(presence, with: Array(mixed)) }
            }
        }
    }

    private func refuse(_ proof: MapProof, with steps: [MapPath.Step]) throws {
        let path = try MapPath(steps)
        switch proof {
        case .present(let value, _):
            #expect(throws: MapProofError.rootMismatch) {
                try MapProof.present(value: value, path: path).verify(entry.key, in: version.root)
            }
        case .absent(let other, _):
            #expect(throws: MapProofError.self) {
                try MapProof.absent(beside: other, path: path).verify(stranger, in: version.root)
            }
        case .absentFromEmptyTrie: throw WrongLength()
        }
    }
}
