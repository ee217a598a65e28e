// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import SignetAPI
import Testing

/// Messages of guardians and new devices to the server, byte by byte.
@Suite struct RecoveryMessageTests {
    private let owner: Handle
    private let guardian: Handle
    private let askKey = Curve25519.Signing.PrivateKey()

    init() throws {
        owner = try Handle(typed: Array("ming@example.org".utf8))
        guardian = try Handle(typed: Array("ana@example.org".utf8))
    }

    private var queries: [RecoveryQuery] {
        let wanted: [RecoveryQuery.Wanted] = [
            .logged, .number(RequestNumber(ofRequest: [1, 2, 3])), .request([UInt8](repeating: 7, count: 32)),
        ]
        return wanted.map { wanted in
            RecoveryQuery(wanted, for: owner, from: guardian) {
                (try? askKey.signature(for: $0)).map(Array.init) ?? []
            }
        }
    }

    private func commitment(_ key: Curve25519.Signing.PrivateKey) throws -> RecoveryCommitment {
        try RecoveryCommitment(
            epoch: 1, delay: 5, recoveryKey: Array(P256.Signing.PrivateKey().publicKey.compressedRepresentation),
            bundle: [], askKey: Array(key.publicKey.rawRepresentation))
    }

    @Test func aQueryReadsBack_andOtherBytesAreRefused() throws {
        for query in queries {
            #expect(try RecoveryQuery(decoding: query.encoded) == query)
            for bad in [Array(query.encoded.dropLast()), query.encoded + [0], []] {
                #expect(throws: RecoveryMessageError.self) { try RecoveryQuery(decoding: bad) }
            }
        }
        var other = queries[0].encoded
        other[1 + owner.bytes.count] = 3
        #expect(throws: RecoveryMessageError.self) { try RecoveryQuery(decoding: other) }
    }

    @Test func aTagIsValidForOneSenderOwnerAndRequest() throws {
        let right = try commitment(askKey)
        for query in queries {
            #expect(query.isTagged(by: right, from: guardian))
            #expect(!query.isTagged(by: right, from: owner))
            #expect(try !query.isTagged(by: commitment(Curve25519.Signing.PrivateKey()), from: guardian))
            var bytes = query.encoded
            bytes[bytes.count - 65] ^= 1
            let changed = try? RecoveryQuery(decoding: bytes)
            #expect(changed?.isTagged(by: right, from: guardian) != true)
        }
    }

    @Test func revealsReadBack_andTooManyAreRefused() throws {
        let reveals = [owner, guardian].map {
            RecoveryReveal(to: $0, number: [UInt8](repeating: 1, count: RecoveryReveal.byteCount))
        }
        let collection = RecoveryCollection(
            request: [UInt8](repeating: 1, count: 32), secret: [UInt8](repeating: 2, count: 32), after: 3,
            reveals: reveals)
        #expect(try RecoveryCollection(decoding: collection.encoded) == collection)
        for bad in [Array(collection.encoded.dropLast()), collection.encoded + [0]] {
            #expect(throws: RecoveryMessageError.self) { try RecoveryCollection(decoding: bad) }
        }
        let many = [RecoveryReveal](repeating: reveals[0], count: RecoveryReveal.maximumCount + 1)
        #expect(throws: RecoveryMessageError.invalidLength) {
            try RecoveryReveal.list(decoding: RecoveryReveal.encoded(many))
        }
    }

    @Test func theAnswerToAGuardianReadsBack() throws {
        for reveal in [nil, [UInt8](repeating: 1, count: RecoveryReveal.byteCount)] {
            let asked = RecoveryAsked(commitment: try commitment(askKey), start: nil, reveal: reveal, request: [1, 2])
            #expect(try RecoveryAsked(decoding: asked.encoded) == asked)
            #expect(throws: RecoveryMessageError.self) { try RecoveryAsked(decoding: Array(asked.encoded.prefix(105))) }
        }
    }
}
