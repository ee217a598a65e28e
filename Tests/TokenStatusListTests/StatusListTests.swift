// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
import SeededRandomness
import StrictJSON
import Testing

@testable import TokenStatusList

/// Lists of outside vectors, each bad one with one fault.
@Suite(.enabled(if: StatusVector.isPresent, "the folder shared/vectors is not beside the package"))
struct StatusVectorTests {
    @Test func everyGoodListGivesItsStatus() throws {
        let good = try StatusVector.load().filter { $0.rule == nil }
        #expect(good.count == 17)
        for vector in good { #expect(try Int64(vector.status()) == vector.value, "\(vector.name)") }
    }

    @Test func everyBadListIsRefusedByItsCheck() throws {
        let bad = try StatusVector.load().filter { $0.rule != nil }
        #expect(bad.count == 37)
        for vector in bad { #expect(vector.refusal()?.rawValue == vector.rule, "\(vector.name)") }
    }

    @Test func everyFlippedBitIsRefused() async throws {
        let vector = try #require(try StatusVector.load().first { $0.name.hasPrefix("013") })
        let owners: Set<StatusFault> = [
            .form, .base64URL, .json, .duplicateMember, .algorithm, .type, .signature,
        ]
        for place in vector.token.indices {
            for bit in 0..<8 {
                var flipped = vector.token
                flipped[place] ^= 1 << UInt8(bit)
                #expect(vector.refusal(flipped).map(owners.contains) == true, "byte \(place), bit \(bit)")
            }
            await Task.yield()
        }
    }
}

/// Lists made here.
struct StatusListTests {
    let key = P256.Signing.PrivateKey()
    let now: Int64 = 1_800_000_000

    /// A zlib stream of one stored block.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let (low, high) = (UInt8(truncatingIfNeeded: bytes.count), UInt8(truncatingIfNeeded: bytes.count >> 8))
        return [0x78, 0x01, 0x01, low, high, ~low, ~high] + bytes + ZlibStream.checksum(bytes)
    }

    func reference(_ uri: String = "https://cred.example/1", index: Int64 = 0) throws(StatusFault) -> StatusReference {
        try StatusReference(["status_list": .object(["uri": .string(JSONText(uri)), "idx": .integer(index)])])
    }

    func token(
        _ stream: [UInt8], bits: Int64 = 1, _ changes: JSONObject = [:], header more: JSONObject = [:],
        by other: P256.Signing.PrivateKey? = nil
    ) throws -> [UInt8] {
        let list = JSONText(String(decoding: Base64URL.encode(stream), as: UTF8.self))
        var payload: JSONObject = [
            "sub": .string("https://cred.example/1"), "iat": .integer(now),
            "status_list": .object(["bits": .integer(bits), "lst": .string(list)]),
        ]
        for (name, value) in changes.members { payload[name] = value }
        var header: JSONObject = ["alg": .string("ES256"), "typ": .string("statuslist+jwt")]
        for (name, value) in more.members { header[name] = value }
        let key = other ?? key
        return try SignedToken.encoded(header: header, payload: payload.encoded) { bytes in
            Array(try key.signature(for: bytes).rawRepresentation)
        }
    }

    func verified(
        _ text: [UInt8], limits: StatusListLimits = StatusListLimits(), at now: Int64? = nil
    )
        throws(StatusFault) -> VerifiedStatusList
    {
        try StatusListVerifier.verify(
            text, for: try reference(), signedBy: key.publicKey, limits: limits, at: now ?? self.now)
    }

    /// The examples of draft-ietf-oauth-status-list, section 4.1: entries of one and of two bits, from the lowest bit
    /// on.
    @Test func entriesAreReadFromTheLowestBitOn() throws {
        let one = try verified(try token(Self.stored([0xB9, 0xA3])))
        let ones: [UInt8] = [1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1]
        for (index, status) in ones.enumerated() { #expect(try one.status(at: Int64(index)) == status) }
        let two = try verified(try token(Self.stored([0xC9, 0x44, 0xF9]), bits: 2))
        let twos: [UInt8] = [1, 2, 0, 3, 0, 1, 0, 1, 1, 2, 3, 3]
        for (index, status) in twos.enumerated() { #expect(try two.status(at: Int64(index)) == status) }
        for index in [-1, 12, Int64.max] { #expect(throws: StatusFault.index) { try two.status(at: index) } }
        #expect(throws: StatusFault.index) { try verified(try token(Self.stored([]))).status(at: 0) }
    }

    @Test func eachCheckOfAListRefusesItsFault() throws {
        let stream = Self.stored([0])
        for (text, expected) in [
            (try token(stream, header: ["alg": .string("none")]), .algorithm),
            (try token(stream, header: ["typ": .string("dc+sd-jwt")]), .type),
            (try token(stream, header: ["crit": .array([])]), .critical),
            (try token(stream, by: P256.Signing.PrivateKey()), .signature),
            (try token(stream, ["sub": .string("https://cred.example/1/")]), .subject),
            (try token(stream, ["exp": .integer(now)]), .expiry),
            (try token(stream, ["ttl": .integer(0)]), .timeToLive),
            (try token(stream, bits: 3), .bits), (try token(stream + [0]), .list),
            (try token(Array(stream.dropLast()) + [0xFF]), .list),
        ] as [([UInt8], StatusFault)] {
            #expect(throws: expected) { try verified(text) }
        }
        #expect(throws: Never.self) { try verified(try token(stream)) }
    }

    @Test func list_refusesMoreBytesThanItsLimit() throws {
        let text = try token(Self.stored([UInt8](repeating: 0, count: 100)))
        #expect(throws: Never.self) { try verified(text, limits: StatusListLimits(maximumByteCount: 100)) }
        #expect(throws: StatusFault.listSize) { try verified(text, limits: StatusListLimits(maximumByteCount: 99)) }
        #expect(throws: StatusFault.limits) { try verified([UInt8](repeating: 0x2E, count: 65_536 + (2 << 20) + 1)) }
    }

    @Test func list_refusesAStreamWithoutItsHeader() throws {
        let good = Self.stored([1])
        for (header, isGood) in [
            ([0x78, 0x01], true), ([0x78, 0x9C], true), ([0x08, 0x1D], true), ([0x79, 0x01], false),
            ([0x88, 0x1C], false), ([0x78, 0x20], false), ([0x78, 0x02], false),
        ] as [([UInt8], Bool)] {
            let text = try token(header + good.dropFirst(2))
            #expect(((try? verified(text)) != nil) == isGood, "\(header)")
        }
        for count in 0..<good.count {
            #expect(throws: StatusFault.list) { try verified(try token(Array(good.prefix(count)))) }
        }
    }

    @Test func maximumAge_isExactToTheSecond() throws {
        let text = try token(Self.stored([0]), ["exp": .integer(now + 100_000), "ttl": .integer(1)])
        #expect(throws: Never.self) { try verified(text, at: now + 86_400) }
        #expect(throws: StatusFault.stale) { try verified(text, at: now + 86_401) }
        #expect(throws: StatusFault.issueTime) { try verified(text, at: now - 1) }
        #expect(throws: StatusFault.issueTime) { try verified(text, at: Int64.min) }
    }

    @Test func reference_refusesAddressesWithoutAHost() {
        for uri in [
            "https://", "https:///1", "HTTPS://a/1", "https://a b/1", "https://u@a/1", "https://?q", "https://é/",
        ] {
            #expect(throws: StatusFault.reference, "\(uri)") { try reference(uri) }
        }
        #expect(throws: Never.self) { try reference("https://cred.example:8443/lists/1") }
    }

    @Test func mutatedStreamsNeverTrap() throws {
        var generator = SeededGenerator(seed: 4)
        let text = "eNrbuRgAAhcBXQ"  // draft-ietf-oauth-status-list, section 4.2
        let stream = try Base64URL.decode(Array(text.utf8))
        #expect(try ZlibStream.inflated(stream, maximumByteCount: 64) == [0xB9, 0xA3])
        for _ in 0..<50_000 {
            let mutant = generator.mutant(of: stream)
            if let read = try? ZlibStream.inflated(mutant, maximumByteCount: 64) { #expect(read.count <= 64) }
        }
    }
}
