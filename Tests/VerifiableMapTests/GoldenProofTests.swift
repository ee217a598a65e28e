// SPDX-License-Identifier: Apache-2.0

import Testing
import VerifiableMap

/// One presence and one absence proof of the Go package, for a map of ten entries.
struct GoldenProof {
    static let root =
        "89f6f5723e54afe8ae77d6e2899b0d7366bfee9d6518580e39e9241197ef9adc"
    static let key =
        "d1a5ac9a015fac2ef7b341673635512a1511f41fe37d111b267f039eec5d4f58"
    static let value =
        "0270da4daac514f30bece5788a87ad7b800f59476d0d7e6f70d4b61fbc4f5e9e"
    static let presence =
        "035d9cd6ee539ab9603a2969bf409424000b2b38d215b5126724a89f9a79fc36fd02afe6d2dc4dcfd85d5eaf"
        + "49749d97e002f69f93d783dab8159594b7847c00d19401f70c06f3ef026096fe9d2566414bf3965226d9a230"
        + "b69bbc0bc2aec19f7dcd130023987bc7f1e1a57ff3bf8d1a86dddf6f5d3f9942675271fba3873c4795feb59c"
    static let absentKey =
        "c42921c7cfa7124ce5d3245b4ccfc7784c6c75353cd537847248dd52331e53e3"
    static let absence =
        "c3c81c2b9a9ae9e358d68fc47dbc8596f19b420011e71c657d1616f14fb7791745e56db55964c2ea7d665907"
        + "66543379f642ce975df6db1a730e5d88558ea6fa03d032ee9cf1037378785afdc498e1cc78241a48400f153b"
        + "ffe6dc3c5e96db8b6c02afe6d2dc4dcfd85d5eaf49749d97e002f69f93d783dab8159594b7847c00d19401f7"
        + "0c06f3ef026096fe9d2566414bf3965226d9a230b69bbc0bc2aec19f7dcd130023987bc7f1e1a57ff3bf8d1a"
        + "86dddf6f5d3f9942675271fba3873c4795feb59c"
}

struct GoldenProofTests {
    /// Whether a presence proof is read and verified.
    private func presents(_ proof: [UInt8], _ key: [UInt8], _ value: [UInt8], _ root: [UInt8]) throws -> Bool {
        let (key, value, root) = (
            try VerifiableMapTests.key(key), try VerifiableMapTests.value(value), try hash(root)
        )
        return (try? MapProof(decoding: proof, value: value).verify(key, in: root)) != nil
    }

    private func excludes(_ proof: [UInt8], _ key: [UInt8], _ root: [UInt8]) throws -> Bool {
        let (key, root) = (try VerifiableMapTests.key(key), try hash(root))
        return (try? MapProof(decoding: proof, value: nil).verify(key, in: root)) != nil
    }

    private func flips(_ bytes: [UInt8]) -> [[UInt8]] {
        (0..<bytes.count * 8).map { bit in
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            return flipped
        }
    }

    @Test func aFlipOfAnyBitOfAPresenceProofIsRefused() throws {
        let (proof, root) = (try unhex(GoldenProof.presence), try unhex(GoldenProof.root))
        let (key, value) = (try unhex(GoldenProof.key), try unhex(GoldenProof.value))
        #expect(try presents(proof, key, value, root))
        for flipped in flips(proof) { #expect(try !presents(flipped, key, value, root)) }
        for flipped in flips(key) { #expect(try !presents(proof, flipped, value, root)) }
        for flipped in flips(value) { #expect(try !presents(proof, key, flipped, root)) }
        for flipped in flips(root) { #expect(try !presents(proof, key, value, flipped)) }
    }

    /// Not of the asked key: other keys are absent, too, and by the same proof.
    @Test func aFlipOfAnyBitOfAnAbsenceProofIsRefused() throws {
        let (proof, root) = (try unhex(GoldenProof.absence), try unhex(GoldenProof.root))
        let key = try unhex(GoldenProof.absentKey)
        #expect(try excludes(proof, key, root))
        for flipped in flips(proof) { #expect(try !excludes(flipped, key, root)) }
        for flipped in flips(root) { #expect(try !excludes(proof, key, flipped)) }
    }

    /// An absence proof of a present key must not exist among the keys one bit away from a present one.
    @Test func noPresentKeyIsExcludedByAnyProofOfItsNeighbours() throws {
        let version = try version(numbered(0..<10))
        let present = try numbered(3).key
        for flipped in flips(present.bytes) {
            let proof = version.proof(of: try key(flipped))
            #expect(throws: MapProofError.self) { try proof.verify(present, in: version.root) }
        }
    }

    @Test func mutatedProofsNeverTrapAndWhatIsReadIsPrintedUnchanged() throws {
        let value = try value(unhex(GoldenProof.value))
        try mutate(unhex(GoldenProof.presence), value, seed: 11)
        try mutate(unhex(GoldenProof.absence), nil, seed: 12)
    }

    private func mutate(_ bytes: [UInt8], _ value: MapValue?, seed: UInt64) throws {
        let (root, key) = (try hash(unhex(GoldenProof.root)), try key(unhex(GoldenProof.absentKey)))
        var mutator = Mutator(seed: seed)
        var survivor = bytes
        for round in 0..<20_000 {
            let mutant = mutator.mutate(round.isMultiple(of: 2) ? bytes : survivor)
            guard let proof = try? MapProof(decoding: mutant, value: value) else { continue }
            #expect(proof.encoded == mutant)
            if mutant != bytes { #expect(throws: MapProofError.self) { try proof.verify(key, in: root) } }
            survivor = mutant.count < 4 * bytes.count ? mutant : bytes
        }
    }
}
