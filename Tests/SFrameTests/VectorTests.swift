// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import SFrame

/// Published vectors, every derived value of them.
@Suite(.enabled(if: SharedVectors.isPresent, "the outside vectors are not here"))
struct VectorTests {
    @Test func headers_encodeAndDecodeAsPublished() throws {
        let vectors = try SharedVectors.load().header
        #expect(vectors.count == 289)
        for vector in vectors {
            let header = FrameHeader(keyID: vector.kid, counter: vector.ctr)
            #expect(header.encoded == vector.encoded.bytes)
            #expect(header.byteCount == vector.encoded.bytes.count)
            #expect(try FrameHeader(startOf: vector.encoded.bytes) == header)
            #expect(try FrameHeader(startOf: vector.encoded.bytes + [0xFF]) == header)
        }
    }

    @Test func headers_cutShortAreRefused() throws {
        for vector in try SharedVectors.load().header {
            for length in 0..<vector.encoded.bytes.count {
                #expect(throws: FrameHeaderError.truncated) {
                    try FrameHeader(startOf: Array(vector.encoded.bytes[..<length]))
                }
            }
        }
    }

    @Test func ciphers_encryptAndDecryptAsPublished() throws {
        let vectors = try SharedVectors.load()
        #expect(vectors.aes_ctr_hmac.count == 3 && vectors.aes_256_ctr_hmac.count == 3)
        for vector in vectors.aes_ctr_hmac + vectors.aes_256_ctr_hmac {
            let suite = try #require(CipherSuite(rawValue: vector.cipher_suite))
            let cipher = try suite.makeCipher(key: SymmetricKey(data: vector.key.bytes))
            let (nonce, aad) = (vector.nonce.bytes, vector.aad.bytes)
            var sealed: [UInt8] = []
            try cipher.seal(vector.pt.bytes[...], nonce: nonce, authenticating: aad, into: &sealed)
            #expect(sealed == vector.ct.bytes)
            #expect(try cipher.open(sealed[...], nonce: nonce, authenticating: aad) == vector.pt.bytes)
        }
    }

    @Test func frames_haveThePublishedKeysNoncesAndBytes() throws {
        let vectors = try SharedVectors.load().sframe
        #expect(vectors.count == 5)
        for vector in vectors {
            let suite = try #require(CipherSuite(rawValue: vector.cipher_suite))
            let baseKey = SymmetricKey(data: vector.base_key.bytes)
            let derived = DerivedKey(baseKey: baseKey, keyID: vector.kid, suite: suite)
            #expect(derived.key == SymmetricKey(data: vector.sframe_key.bytes))
            #expect(derived.salt == vector.sframe_salt.bytes)
            let key = try FrameKey(baseKey: baseKey, keyID: vector.kid, suite: suite)
            #expect(key.nonce(vector.ctr) == vector.nonce.bytes)
            let sealer = FrameSealer(key: key, firstCounter: vector.ctr)
            #expect(try sealer.seal(vector.pt.bytes, metadata: vector.metadata.bytes) == vector.ct.bytes)
            var opener = FrameOpener()
            opener.insert(key)
            #expect(try opener.open(vector.ct.bytes, metadata: vector.metadata.bytes).plaintext == vector.pt.bytes)
        }
    }
}
