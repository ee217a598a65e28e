// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
import SeededRandomness
import StrictJSON
import Testing

@testable import Issuance

/// An issuer's decisions about one offer, with wallets that are honest or not.
struct OfferRecordTests {
    private static let now: Int64 = 1_800_000_000
    private static let entered: JSONText = "493536"
    private static let token: JSONText = "token-of-at-least-16-characters"

    private let wallet = P256.Signing.PrivateKey()
    private let thief = P256.Signing.PrivateKey()
    private let nonces = IssuanceNonce(key: SymmetricKey(size: .bits256))

    private var nonce: JSONText { nonces.nonce(random: [UInt8](repeating: 7, count: 16), at: Self.now) }

    private func record(entering code: JSONText? = entered) -> OfferRecord {
        OfferRecord(code: OfferTests.code, transactionCode: code, expiry: Self.now + 3600)
    }

    private func metadata() throws -> IssuerMetadata {
        IssuerMetadata(
            issuer: try IssuerName("https://club.example:8460"), configuration: "member-card",
            type: "urn:signet:member-card:1", batchSize: 5)
    }

    private func redeem(
        _ record: inout OfferRecord, code: JSONText = OfferTests.code, entering entered: JSONText? = entered,
        by key: P256.Signing.PrivateKey? = nil, for token: JSONText = token, at now: Int64 = now
    ) -> TokenRefusal? {
        do throws(TokenRefusal) {
            let answer = try record.redeem(
                TokenRequest(code: code, transactionCode: entered), by: WebKey((key ?? wallet).publicKey), for: token,
                at: now)
            #expect(answer.accessToken == token)
            return nil
        } catch { return error }
    }

    private func proof(
        of key: P256.Signing.PrivateKey, nonce: JSONText? = nil, for issuer: JSONText = "https://club.example:8460"
    ) throws -> [UInt8] {
        try KeyProof.encoded(
            of: WebKey(key.publicKey), for: IssuerName(issuer), nonce: nonce ?? self.nonce, at: Self.now
        ) { Array(try key.signature(for: $0).rawRepresentation) }
    }

    private func copies(
        _ record: inout OfferRecord, of keys: [P256.Signing.PrivateKey], configuration: JSONText = "member-card",
        by key: P256.Signing.PrivateKey? = nil, with token: JSONText = token, nonce: JSONText? = nil,
        for issuer: JSONText = "https://club.example:8460", at now: Int64 = now
    ) throws -> CopiesRefusal? {
        let request = CopiesRequest(
            configuration: configuration, proofs: try keys.map { try proof(of: $0, nonce: nonce, for: issuer) })
        let metadata = try metadata()
        do throws(CopiesRefusal) {
            let made = try record.keys(
                for: request, by: WebKey((key ?? wallet).publicKey), with: token, from: metadata, nonces: nonces,
                at: now)
            #expect(made == keys.map { WebKey($0.publicKey) })
            return nil
        } catch { return error }
    }

    private func redeemed() -> OfferRecord {
        var record = record()
        #expect(redeem(&record) == nil)
        return record
    }

    private func keys(_ count: Int) -> [P256.Signing.PrivateKey] { (0..<count).map { _ in P256.Signing.PrivateKey() } }

    // MARK: Tokens

    @Test func aWalletGetsATokenAndTheCard() throws {
        var record = redeemed()
        #expect(try copies(&record, of: keys(3)) == nil)
        #expect(record.keys.count == 3)
        var open = self.record(entering: nil)
        #expect(redeem(&open, entering: nil) == nil)
    }

    /// The answer to the wallet was lost.
    @Test func theSameWalletMayUseTheCodeAgain_andNoOther() throws {
        var record = redeemed()
        #expect(redeem(&record, for: "another-token-of-16-characters") == nil)
        #expect(redeem(&record, by: thief) == .used)
        let mine = keys(2)
        #expect(try copies(&record, of: mine) == .token, "the first token does not count any more")
        #expect(try copies(&record, of: mine, with: "another-token-of-16-characters") == nil)
        #expect(redeem(&record, by: thief) == .used)
        #expect(redeem(&record) == nil)
    }

    @Test func anExpiredOrWithdrawnOfferIsRefused() {
        var record = record()
        #expect(redeem(&record, at: Self.now + 3600) == .expired)
        #expect(redeem(&record, at: Self.now + 3599) == nil)
        record = self.record()
        record.isWithdrawn = true
        #expect(redeem(&record) == .withdrawn)
    }

    @Test func anotherCodeIsRefused() {
        var record = record()
        #expect(redeem(&record, code: "abcdefghijklmnopqrstuvwxyz012346") == .unknown)
    }

    @Test func wrongEnteredCodesLockTheOffer_andAreCountedAlthoughTheyAreRefused() {
        var record = record()
        for left in (0..<OfferRecord.attemptCount).reversed() {
            #expect(redeem(&record, entering: "000000") == .transactionCode)
            #expect(record.attemptsLeft == left)
        }
        #expect(redeem(&record) == .locked)
        #expect(redeem(&record, entering: "000000") == .locked)
    }

    @Test func anEnteredCodeMustBeThereExactlyWhenTheOfferAsksForIt() {
        var (asking, open) = (record(), record(entering: nil))
        #expect(redeem(&asking, entering: nil) == .transactionCodePresence)
        #expect(redeem(&open) == .transactionCodePresence)
        #expect(asking.attemptsLeft == OfferRecord.attemptCount)
    }

    /// A copy of the database has no code.
    @Test func aRecordHasNoCode() {
        let record = record()
        let text = "\(record)"
        #expect(!text.contains(OfferTests.code.description) && !text.contains(Self.entered.description))
        #expect(record.transactionCodeHash != OfferRecord.hash(of: Self.entered))
    }

    // MARK: Cards

    @Test func copies_refusesATokenThatIsMissingWrongOrOld() throws {
        var unused = record()
        #expect(try copies(&unused, of: keys(1)) == .token)
        var record = redeemed()
        #expect(try copies(&record, of: keys(1), with: "token-of-at-least-17-characters") == .token)
        #expect(try copies(&record, of: keys(1), at: Self.now + OfferRecord.tokenLifetime) == .token)
    }

    @Test func copies_refusesAStolenToken() throws {
        var record = redeemed()
        #expect(try copies(&record, of: keys(1), by: thief) == .anotherSender)
    }

    @Test func copies_refusesOtherCards() throws {
        var record = redeemed()
        #expect(try copies(&record, of: keys(1), configuration: "passport") == .unknownConfiguration)
    }

    @Test func copies_refusesAWithdrawnOffer() throws {
        var record = redeemed()
        record.isWithdrawn = true
        #expect(try copies(&record, of: keys(1)) == .withdrawn)
    }

    @Test func copies_refusesBadProofs() throws {
        var record = redeemed()
        let key = P256.Signing.PrivateKey()
        #expect(try copies(&record, of: [key, key]) == .proof(.keyTwice))
        #expect(try copies(&record, of: []) == .proof(.count))
        #expect(try copies(&record, of: keys(6)) == .proof(.count))
        #expect(try copies(&record, of: [key], nonce: "of-somebody-else") == .proof(.nonce))
        #expect(try copies(&record, of: [key], for: "https://mallory.example") == .proof(.audience))
        #expect(record.keys.isEmpty)
    }

    /// The answer was lost, or somebody wants a second card of the offer.
    @Test func theCardIsMadeAgainForTheSameKeys_andForNoOthers() throws {
        var record = redeemed()
        let mine = keys(3)
        #expect(try copies(&record, of: mine) == nil)
        #expect(try copies(&record, of: mine.reversed()) == nil)
        for others in [keys(3), Array(mine.prefix(2)), mine + keys(1)] {
            #expect(try copies(&record, of: others) == .made)
        }
    }

    // MARK: Words and forms

    @Test func refusalsThatWouldHelpAGuesserAreTheSameWord() {
        for refusal in [TokenRefusal.unknown, .expired, .withdrawn, .locked, .used, .transactionCode] {
            #expect(refusal.code == "invalid_grant")
        }
        #expect(TokenRefusal.form.code == "invalid_request" && TokenRefusal.grant.code == "unsupported_grant_type")
        #expect(
            CopiesRefusal.proof(.nonce).code == "invalid_nonce" && CopiesRefusal.proof(.key).code == "invalid_proof")
        #expect(CopiesRefusal.token.isAboutToken && !CopiesRefusal.made.isAboutToken)
    }

    @Test func requestsAndAnswersAreReadAsTheyWereWritten() throws {
        for entered: JSONText? in [nil, Self.entered, "a b&c"] {
            let request = TokenRequest(code: OfferTests.code, transactionCode: entered)
            #expect(try TokenRequest(decoding: request.encoded) == request)
        }
        let token = TokenAnswer(accessToken: Self.token, lifetime: 300)
        #expect(try TokenAnswer(decoding: token.object.encoded) == token)
        #expect(try NonceAnswer.nonce(decoding: NonceAnswer.object(nonce).encoded) == nonce)
        let copies = CopiesRequest(configuration: "member-card", proofs: [[0x61], [0x62]])
        #expect(try CopiesRequest(decoding: copies.object.encoded) == copies)
        let answer = CopiesAnswer(copies: [[0x61], [0x62]])
        #expect(try CopiesAnswer(decoding: answer.object.encoded, keyCount: 2) == answer)
    }

    @Test func requests_refuseOtherForms() {
        func fault(_ form: String) -> TokenRefusal? {
            do throws(TokenRefusal) {
                _ = try TokenRequest(decoding: Array(form.utf8))
                return nil
            } catch { return error }
        }
        #expect(fault("") == .form && fault("a=1") == .form)
        #expect(fault("grant_type=authorization_code") == .grant)
        let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Apre-authorized_code"
        #expect(fault(grant) == .form)
        #expect(fault("\(grant)&pre-authorized_code=a&pre-authorized_code=b") == .form)
        func copiesFault(_ object: JSONObject) -> CopiesRefusal? {
            do throws(CopiesRefusal) {
                _ = try CopiesRequest(decoding: object.encoded)
                return nil
            } catch { return error }
        }
        let proofs: JSONValue = .object(["jwt": .array([.string("a")])])
        #expect(copiesFault(["credential_configuration_id": .string("a"), "proofs": proofs]) == nil)
        #expect(copiesFault(["proofs": proofs]) == .form)
        #expect(copiesFault(["credential_configuration_id": .string("a")]) == .form)
        #expect(
            copiesFault(
                ["credential_configuration_id": .string("a"), "credential_identifier": .string("a"), "proofs": proofs])
                == .form)
        #expect(
            copiesFault([
                "credential_configuration_id": .string("a"),
                "proofs": .object(["jwt": .array([]), "attestation": .array([])]),
            ]) == .form)
        #expect(
            copiesFault([
                "credential_configuration_id": .string("a"), "proofs": proofs,
                "credential_response_encryption": .object([:]),
            ]) == .encryption)
    }

    @Test func answers_refuseOtherForms() throws {
        func fault(_ object: JSONObject) -> IssuanceFault? {
            do throws(IssuanceFault) {
                _ = try TokenAnswer(decoding: object.encoded)
                return nil
            } catch { return error }
        }
        let good = TokenAnswer(accessToken: Self.token, lifetime: 300).object
        for change: (name: JSONText, value: JSONValue?) in [
            ("token_type", .string("Bearer")), ("access_token", .string("short")), ("access_token", nil),
            ("access_token", .string("token with spaces and more")), ("expires_in", .integer(-1)),
            ("expires_in", .string("300")),
        ] {
            var object = good
            object[change.name] = change.value
            #expect(fault(object) == .token, "\(change.name)")
        }
        #expect(throws: IssuanceFault.nonce) { try NonceAnswer.nonce(decoding: Array("{\"c_nonce\":1}".utf8)) }
        for (text, expected) in [
            ("{}", IssuanceFault.credentials), ("{\"credentials\":[\"a\"]}", .credentials),
            ("{\"credentials\":[{\"credential\":\"a\"}]}", .count), ("[", .json),
        ] {
            #expect(throws: expected) { try CopiesAnswer(decoding: Array(text.utf8), keyCount: 2) }
        }
        let long = [UInt8](repeating: 0x20, count: CopiesAnswer.maximumByteCount + 1)
        #expect(throws: IssuanceFault.limits) { try CopiesAnswer(decoding: long, keyCount: 2) }
    }

    /// Nothing that is changed at random ends the program.
    @Test func changedTextsAreReadOrRefused() throws {
        var generator = SeededGenerator(seed: 18)
        let texts = [
            TokenRequest(code: OfferTests.code, transactionCode: Self.entered).encoded,
            CopiesRequest(configuration: "member-card", proofs: [try proof(of: wallet)]).object.encoded,
            TokenAnswer(accessToken: Self.token, lifetime: 300).object.encoded,
            CopiesAnswer(copies: [[0x61], [0x62]]).object.encoded,
        ]
        for round in 0..<8_000 {
            let text = generator.mutant(of: texts[round % texts.count])
            if let read = try? TokenRequest(decoding: text) {
                #expect(try TokenRequest(decoding: read.encoded) == read)
            }
            if let read = try? CopiesRequest(decoding: text) {
                #expect(try CopiesRequest(decoding: read.object.encoded) == read)
            }
            if let read = try? TokenAnswer(decoding: text) {
                #expect(try TokenAnswer(decoding: read.object.encoded) == read)
            }
            _ = try? CopiesAnswer(decoding: text, keyCount: 2)
        }
    }
}
