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

    @Test func verify_acceptsTheGoodProofs() throws {
        #expect(try presence.verify(entry.key, in: version.root).outcome == .present(entry.value))
        #expect(try absence.verify(stranger, in: version.root).outcome == .absent)
    }

    @Test(arguments: 1..<33) func decoding_refusesATruncatedStep(missing: Int) {
        #expect(throws: MapProofError.leftOverBytes(33 - missing)) {
            try MapProof(decoding: presence.encoded.dropLast(missing), value: entry.value)
        }
        #expect(throws: MapProofError.leftOverBytes(33 - missing)) {
            try MapProof(decoding: absence.encoded.dropLast(missing), value: nil)
        }
    }

    @Test(arguments: 1..<33) func decoding_refusesTrailingBytes(count: Int) {
        let surplus = [UInt8](repeating: 0, count: count)
        #expect(throws: MapProofError.leftOverBytes(count)) {
            try MapProof(decoding: presence.encoded + surplus, value: entry.value)
        }
        #expect(throws: MapProofError.leftOverBytes(count)) {
            try MapProof(decoding: absence.encoded + surplus, value: nil)
        }
    }

    @Test func decoding_refusesATruncatedOtherLeaf() {
        for count in 1..<64 {
            #expect(throws: MapProofError.otherLeafCutShort(byteCount: count)) {
                try MapProof(decoding: Array(absence.encoded.prefix(count)), value: nil)
            }
        }
    }

    @Test func path_refusesARepeatedBit() throws {
        var bytes = presence.encoded
        bytes[3 * 33] = bytes[2 * 33]
        #expect(throws: MapProofError.bitNotDecreasing(step: 3)) {
            try MapProof(decoding: bytes, value: entry.value)
        }
    }

    @Test func path_refusesAnIncreasingBit() throws {
        var bytes = absence.encoded
        bytes[64 + 33] = bytes[64] + 1
        #expect(throws: MapProofError.bitNotDecreasing(step: 1)) { try MapProof(decoding: bytes, value: nil) }
    }

    @Test func path_refusesStepsInReverseOrder() throws {
        let steps = try steps(presence)
        #expect(throws: MapProofError.bitNotDecreasing(step: 1)) { try MapPath(steps.reversed()) }
    }

    @Test func path_refusesMoreStepsThanAKeyHasBits() throws {
        let step = [UInt8](repeating: 0, count: 33)
        let path = Array(repeatElement(step, count: 257).joined())
        #expect(throws: MapProofError.pathTooLong(byteCount: 257 * 33)) {
            try MapProof(decoding: path, value: entry.value)
        }
        #expect(throws: MapProofError.pathTooLong(byteCount: 257 * 33)) {
            try MapProof(decoding: Array(absence.encoded.prefix(64)) + path, value: nil)
        }
    }

    @Test func presence_refusesAnotherValue() throws {
        let proof = MapProof.present(value: entries[18].value, path: try #require(presence.path))
        #expect(throws: MapProofError.rootMismatch) { try proof.verify(entry.key, in: version.root) }
    }

    @Test func presence_refusesAnotherRoot() throws {
        let root = try VerifiableMapTests.version(Array(entries.dropLast())).root
        #expect(throws: MapProofError.rootMismatch) { try presence.verify(entry.key, in: root) }
        #expect(throws: MapProofError.rootMismatch) { try absence.verify(stranger, in: root) }
    }

    @Test func presence_refusesTheProofOfAnotherLabel() throws {
        for other in entries where other != entry {
            #expect(throws: MapProofError.rootMismatch) {
                try version.proof(of: other.key).verify(entry.key, in: version.root)
            }
        }
    }

    @Test func absence_refusesAnEmptyProofForANonEmptyMap() throws {
        let proof = try MapProof(decoding: [], value: nil)
        #expect(proof == .absentFromEmptyTrie)
        #expect(throws: MapProofError.rootMismatch) { try proof.verify(stranger, in: version.root) }
    }

    @Test func presence_refusesAnEmptyMap() throws {
        #expect(throws: MapProofError.rootMismatch) { try presence.verify(entry.key, in: .emptyTrie) }
    }

    /// The leaf and its path are true; they show that the key is there.
    @Test func absence_refusesTheKeysOwnLeaf() throws {
        let proof = MapProof.absent(beside: entry, path: try #require(presence.path))
        #expect(throws: MapProofError.otherKeyIsAskedKey) { try proof.verify(entry.key, in: version.root) }
    }

    /// The other leaf and its path are true; the asked key, which the map has, is elsewhere.
    @Test func absence_refusesAnyLeafOffTheKeysPath() throws {
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

    @Test func absence_refusesAKeyThatLeavesThePathAtAnyBit() throws {
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
    @Test func absence_refusesAPathWithoutItsDecidingSteps() throws {
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

    @Test func path_refusesEveryPartInPlaceOfTheWhole() throws {
        for proof in [presence, absence] {
            let steps = try steps(proof)
            for start in steps.indices {
                for end in start...steps.count where end - start < steps.count {
                    try refuse(proof, with: Array(steps[start..<end]))
                }
            }
        }
    }

    @Test func path_refusesAnyRemovedStep() throws {
        for proof in [presence, absence] {
            let steps = try steps(proof)
            for index in steps.indices {
                var part = steps
                part.remove(at: index)
                try refuse(proof, with: part)
            }
        }
    }

    @Test func path_refusesAnAddedStep() throws {
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
    @Test func path_refusesPartsOfTwoPathsJoined() throws {
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
