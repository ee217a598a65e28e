// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import SignetAPI
import Testing

/// A signed request covers everything that gives it its meaning.
@Suite struct RequestSignatureTests {
    let key = Curve25519.Signing.PrivateKey()
    let content = RequestSignature.Content(.addFriend, origin: Array("example.org/log".utf8), body: [1, 2, 3])
    let signature: RequestSignature

    init() throws {
        let key = key
        signature = try RequestSignature(
            content, deviceKey: Array(key.publicKey.rawRepresentation), time: 5000,
            nonce: [UInt8](repeating: 9, count: 16)
        ) { try Array(key.signature(for: $0)) }
    }

    @Test func honestRequestPassesWithinFiveMinutes() throws {
        try signature.verify(content, at: 5000)
        try signature.verify(content, at: 5300)
        try signature.verify(content, at: 4700)
        #expect(throws: RequestSignatureError.wrongTime) { try signature.verify(content, at: 5301) }
        #expect(throws: RequestSignatureError.wrongTime) { try signature.verify(content, at: 4699) }
    }

    @Test(arguments: [
        RequestSignature.Content(.acceptFriend, origin: Array("example.org/log".utf8), body: [1, 2, 3]),
        RequestSignature.Content(
            method: "GET", path: Route.addFriend.path, origin: Array("example.org/log".utf8), body: [1, 2, 3]),
        RequestSignature.Content(.addFriend, origin: Array("other.org/log".utf8), body: [1, 2, 3]),
        RequestSignature.Content(.addFriend, origin: Array("example.org/log".utf8), body: [1, 2, 4]),
    ]) func anotherRequestIsRefused(other: RequestSignature.Content) {
        #expect(throws: RequestSignatureError.invalidSignature) { try signature.verify(other, at: 5000) }
    }

    @Test func headerReadsBackAndEveryChangeIsRefused() throws {
        let header = signature.headerValue
        #expect(try RequestSignature(headerValue: header) == signature)
        for index in header.indices {
            for replacement in [UInt8(ascii: "!"), UInt8(ascii: "A"), UInt8(ascii: "9")]
            where header[index] != replacement {
                var edited = header
                edited[index] = replacement
                guard let read = try? RequestSignature(headerValue: edited) else { continue }
                #expect(throws: RequestSignatureError.self, "byte \(index)") {
                    try read.verify(content, at: 5000)
                }
            }
        }
    }

    @Test(arguments: ["", "v1", "v2 a b c d", "v1 a b c", "v1  b c d"]) func otherFormsAreRefused(text: String) {
        #expect(throws: RequestSignatureError.self) { try RequestSignature(headerValue: Array(text.utf8)) }
    }

    @Test func partsOfAnotherLengthAreRefused() throws {
        let parts = String(decoding: signature.headerValue, as: UTF8.self).split(separator: " ").map(String.init)
        for place in [1, 3, 4] {
            var other = parts
            other[place] = "AAAA"
            #expect(throws: RequestSignatureError.unknownFormat) {
                try RequestSignature(headerValue: Array(other.joined(separator: " ").utf8))
            }
        }
        var other = parts
        other[2] = "05000"
        #expect(throws: RequestSignatureError.malformed(.notMinimal)) {
            try RequestSignature(headerValue: Array(other.joined(separator: " ").utf8))
        }
    }
}
