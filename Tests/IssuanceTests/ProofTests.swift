// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
import StrictJSON
import Testing

@testable import Issuance

/// The proofs of a wallet, each time with one thing wrong.
struct ProofTests {
    private static let now: Int64 = 1_800_000_000
    private static let address: JSONText = "https://club.example:8460/token"

    private let key = P256.Signing.PrivateKey()
    private let nonces = IssuanceNonce(key: SymmetricKey(size: .bits256))

    private var nonce: JSONText { nonces.nonce(random: [UInt8](repeating: 7, count: 16), at: Self.now) }

    private func issuer() throws -> IssuerName { try IssuerName("https://club.example:8460") }

    private func sign(_ key: P256.Signing.PrivateKey) -> ([UInt8]) throws -> [UInt8] {
        { Array(try key.signature(for: $0).rawRepresentation) }
    }

    /// A token of a wallet in which something was changed before it was signed.
    private func token(
        _ type: JSONText, _ payload: JSONObject, by signer: P256.Signing.PrivateKey? = nil,
        header change: (inout JSONObject) -> Void = { _ in }
    ) throws -> [UInt8] {
        var header = WalletToken.header(type, WebKey(key.publicKey))
        change(&header)
        return try SignedToken.encoded(header: header, payload: payload.encoded, sign: sign(signer ?? key))
    }

    private func refusal(_ body: () throws(WalletTokenFault) -> WebKey) -> WalletTokenFault? {
        do throws(WalletTokenFault) {
            _ = try body()
            return nil
        } catch { return error }
    }

    // MARK: Keys

    private func keyProof(
        _ change: (inout JSONObject) -> Void = { _ in }, by signer: P256.Signing.PrivateKey? = nil,
        header: (inout JSONObject) -> Void = { _ in }, type: JSONText = "openid4vci-proof+jwt"
    ) throws -> [UInt8] {
        var payload: JSONObject = [
            "aud": .string(try issuer().text), "nonce": .string(nonce), "iat": .integer(Self.now),
        ]
        change(&payload)
        return try token(type, payload, by: signer, header: header)
    }

    private func fault(_ proof: [UInt8]) throws -> WalletTokenFault? {
        let issuer = try issuer()
        return refusal { () throws(WalletTokenFault) in
            try KeyProof.verify(proof, for: issuer, isFresh: { nonces.isFresh($0, at: Self.now) }, at: Self.now)
        }
    }

    @Test func aKeyIsProved() throws {
        let proof = try KeyProof.encoded(
            of: WebKey(key.publicKey), for: issuer(), nonce: nonce, at: Self.now, sign: sign(key))
        let proved = try KeyProof.verify(
            proof, for: issuer(), isFresh: { nonces.isFresh($0, at: Self.now) }, at: Self.now)
        #expect(proved == WebKey(key.publicKey))
        #expect(try proof == keyProof() || fault(keyProof()) == nil)
    }

    /// The signed example of appendix F.1 and section 8.2 of the specification.
    @Test func theProofOfTheSpecificationIsAccepted() throws {
        let proof = Array(
            ("eyJ0eXAiOiJvcGVuaWQ0dmNpLXByb29mK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwiY3J2IjoiUC0yNTYiLCJ4Ijoi"
                + "blVXQW9BdjNYWml0aDhFN2kxOU9kYXhPTFlGT3dNLVoyRXVNMDJUaXJUNCIsInkiOiJIc2tIVThCalVpMVU5WHFpN1N3bWo4Z3dBS18w"
                + "eGtjRGpFV183MVNvc0VZIn19.eyJhdWQiOiJodHRwczovL2NyZWRlbnRpYWwtaXNzdWVyLmV4YW1wbGUuY29tIiwiaWF0IjoxNzAxOTYw"
                + "NDQ0LCJub25jZSI6IkxhclJHU2JtVVBZdFJZTzZCUTR5bjgifQ.-a3EDsxClUB4O3LeDD5DVGEnNMT01FCQW4P6-2-BNBqc_Zxf0Qw4CW"
                + "ayLEpqkAomlkLb9zioZoipdP-jvh1WlA").utf8)
        let key = try KeyProof.verify(
            proof, for: IssuerName("https://credential-issuer.example.com"),
            isFresh: { $0 == "LarRGSbmUPYtRYO6BQ4yn8" }, at: 1_701_960_444)
        #expect(key.object["x"] == .string("nUWAoAv3XZith8E7i19OdaxOLYFOwM-Z2EuM02TirT4"))
    }

    /// The signed example of RFC 9449, section 4.1.
    @Test func theSenderOfTheSpecificationIsAccepted() throws {
        let proof = Array(
            ("eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0Rs"
                + "cEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAt"
                + "MjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29t"
                + "L3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJ"
                + "K70nfbV37xRZT3Lg").utf8)
        let key = try SenderProof.verify(
            proof, to: "https://server.example.com/token", accessToken: nil, at: 1_562_262_616)
        #expect(key.object["x"] == .string("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"))
    }

    @Test func keyProof_refusesAnotherTypeOrAlgorithm() throws {
        #expect(try fault(keyProof(type: "dpop+jwt")) == .type)
        #expect(try fault(keyProof(header: { $0["alg"] = .string("ES384") })) == .algorithm)
        #expect(try fault(keyProof(header: { $0["alg"] = .string("none") })) == .algorithm)
        #expect(try fault(keyProof(header: { $0["crit"] = .array([.string("x")]) })) == .critical)
    }

    @Test func keyProof_refusesKeysThatAreMissingPrivateOrNamedTwice() throws {
        #expect(try fault(keyProof(header: { $0["jwk"] = nil })) == .key)
        #expect(try fault(keyProof(header: { $0["kid"] = .string("did:key:z") })) == .key)
        #expect(try fault(keyProof(header: { $0["x5c"] = .array([]) })) == .key)
        let exposed = { (header: inout JSONObject) in
            var jwk = header["jwk"]?.object ?? [:]
            jwk["d"] = .string("AAAA")
            header["jwk"] = .object(jwk)
        }
        #expect(try fault(keyProof(header: exposed)) == .key)
    }

    @Test func keyProof_refusesAnotherKeysSignature() throws {
        #expect(try fault(keyProof(by: P256.Signing.PrivateKey())) == .signature)
    }

    @Test func keyProof_refusesAnotherAudience() throws {
        #expect(try fault(keyProof { $0["aud"] = .string("https://mallory.example") }) == .audience)
        #expect(try fault(keyProof { $0["aud"] = .array([$0["aud"] ?? .null]) }) == .audience)
        #expect(try fault(keyProof { $0["aud"] = nil }) == .audience)
    }

    @Test func keyProof_refusesAnotherNonce() throws {
        let other = IssuanceNonce(key: SymmetricKey(size: .bits256))
        let foreign = other.nonce(random: [UInt8](repeating: 7, count: 16), at: Self.now)
        let old = nonces.nonce(random: [UInt8](repeating: 7, count: 16), at: Self.now - IssuanceNonce.lifetime - 1)
        for value: JSONValue? in [nil, .string("abc"), .string(foreign), .string(old)] {
            #expect(try fault(keyProof { $0["nonce"] = value }) == .nonce)
        }
    }

    @Test func keyProof_refusesOtherTimes() throws {
        let most = KeyProof.maximumAge
        for offset in [-most, most] { #expect(try fault(keyProof { $0["iat"] = .integer(Self.now + offset) }) == nil) }
        for value: JSONValue? in [
            nil, .integer(Self.now - most - 1), .integer(Self.now + most + 1), .integer(.min), .integer(.max),
            .string("now"),
        ] {
            #expect(try fault(keyProof { $0["iat"] = value }) == .time)
        }
    }

    @Test func keyProof_refusesTextThatIsNoToken() throws {
        let good = try keyProof()
        #expect(try fault([]) == .form)
        #expect(try fault(good + Array(".x".utf8)) == .form)
        #expect(try fault([UInt8(ascii: "=")] + good) == .base64URL)
        #expect(try fault(good + [UInt8](repeating: UInt8(ascii: "A"), count: 5_000)) == .limits)
        for text in ["{", "[1]"] {
            let token = try SignedToken.encoded(
                header: WalletToken.header("openid4vci-proof+jwt", WebKey(key.publicKey)), payload: Array(text.utf8),
                sign: sign(key))
            #expect(try fault(token) == .json)
        }
        let twice = try SignedToken.encoded(
            header: WalletToken.header("openid4vci-proof+jwt", WebKey(key.publicKey)),
            payload: Array("{\"a\":1,\"a\":1}".utf8), sign: sign(key))
        #expect(try fault(twice) == .duplicateMember)
    }

    @Test func everyFlippedBitOfAProofIsRefused() throws {
        let good = try keyProof()
        for place in good.indices {
            for bit in 0..<8 {
                var flipped = good
                flipped[place] ^= 1 << bit
                #expect(try fault(flipped) != nil, "bit \(bit) of byte \(place)")
            }
        }
    }

    @Test func batch_refusesAKeyTwiceNoneOrTooMany() throws {
        let other = P256.Signing.PrivateKey()
        let second = try KeyProof.encoded(
            of: WebKey(other.publicKey), for: issuer(), nonce: nonce, at: Self.now, sign: sign(other))
        func fault(_ batch: [[UInt8]]) throws -> WalletTokenFault? {
            do throws(WalletTokenFault) {
                let issuer: IssuerName
                do throws(IssuanceFault) { issuer = try IssuerName("https://club.example:8460") } catch { return nil }
                let keys = try KeyProof.verify(
                    batch: batch, batchSize: 2, for: issuer, isFresh: { nonces.isFresh($0, at: Self.now) },
                    at: Self.now)
                #expect(keys == [WebKey(key.publicKey), WebKey(other.publicKey)])
                return nil
            } catch { return error }
        }
        #expect(try fault([keyProof(), second]) == nil)
        #expect(try fault([keyProof(), keyProof()]) == .keyTwice)
        #expect(try fault([]) == .count)
        #expect(try fault([keyProof(), second, second]) == .count)
    }

    // MARK: Senders

    private func senderProof(
        _ change: (inout JSONObject) -> Void = { _ in }, by signer: P256.Signing.PrivateKey? = nil,
        type: JSONText = "dpop+jwt"
    ) throws -> [UInt8] {
        var payload: JSONObject = [
            "htm": .string("POST"), "htu": .string(Self.address), "iat": .integer(Self.now), "jti": .string("1"),
        ]
        change(&payload)
        return try token(type, payload, by: signer)
    }

    private func senderFault(_ proof: [UInt8], with token: JSONText? = nil) -> WalletTokenFault? {
        refusal { () throws(WalletTokenFault) in
            try SenderProof.verify(proof, to: Self.address, accessToken: token, at: Self.now)
        }
    }

    @Test(arguments: [nil, "token"] as [JSONText?]) func aSenderIsProved(_ token: JSONText?) throws {
        let proof = try SenderProof.encoded(
            of: WebKey(key.publicKey), to: Self.address, accessToken: token, random: [1, 2, 3], at: Self.now,
            sign: sign(key))
        let proved = try SenderProof.verify(proof, to: Self.address, accessToken: token, at: Self.now)
        #expect(proved == WebKey(key.publicKey))
        #expect(senderFault(proof, with: "another") == .accessToken)
        #expect(senderFault(proof, with: token == nil ? "token" : nil) == .accessToken)
    }

    @Test func senderProof_refusesWhatIsNotForThisRequest() throws {
        #expect(senderFault(try senderProof()) == nil)
        #expect(senderFault(try senderProof(type: "openid4vci-proof+jwt")) == .type)
        #expect(senderFault(try senderProof(by: P256.Signing.PrivateKey())) == .signature)
        #expect(senderFault(try senderProof { $0["htm"] = .string("GET") }) == .method)
        #expect(senderFault(try senderProof { $0["htu"] = .string("https://mallory.example/token") }) == .audience)
        #expect(senderFault(try senderProof { $0["iat"] = .integer(Self.now - 301) }) == .time)
    }

    // MARK: Nonces

    @Test func aNonceCountsForItsTime() {
        let nonce = nonce
        #expect(nonce.utf8.count == 54)
        #expect(nonces.isFresh(nonce, at: Self.now) && nonces.isFresh(nonce, at: Self.now + IssuanceNonce.lifetime))
        #expect(!nonces.isFresh(nonce, at: Self.now + IssuanceNonce.lifetime + 1))
        #expect(!nonces.isFresh(nonce, at: Self.now - 1))
        for place in nonce.utf8.indices {
            var changed = nonce.utf8
            changed[place] ^= 1
            #expect(!nonces.isFresh(JSONText(utf8: changed) ?? "", at: Self.now))
        }
    }
}
