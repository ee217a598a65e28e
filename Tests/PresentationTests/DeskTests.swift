// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DIDKey
import JOSE
import SelectiveDisclosure
import StrictJSON
import Testing
import TokenStatusList

@testable import Presentation

/// A site that asks a member for a card, an issuer, and wallets that answer honestly or not.
struct DeskTests {
    private static let now: Int64 = 1_800_000_000
    private static let alice = [UInt8](repeating: 1, count: 16)
    private static let bob = [UInt8](repeating: 2, count: 16)
    private static let list: JSONText = "https://issuer.example/status/1"

    private let siteKey = P256.Signing.PrivateKey()
    private let issuerKey = P256.Signing.PrivateKey()
    private let holderKey = P256.Signing.PrivateKey()
    private let site = RequestingSite(host: "shop.example", authority: "shop.example:8443", certificates: [[1]])

    // MARK: The parties

    private func did(_ key: P256.Signing.PrivateKey) throws -> JSONText {
        let did = try KeyDID(.p256, publicKey: Array(key.publicKey.compressedRepresentation))
        return try #require(JSONText(utf8: did.encoded))
    }

    private func desk(_ question: SiteQuestion = .member) throws -> PresentationDesk {
        let issuer = TrustedIssuer(identifier: try did(issuerKey), key: issuerKey.publicKey)
        return PresentationDesk(
            of: site, asking: question,
            trusting: IssuerTrust(issuers: [issuer], acceptsSelfIssued: true))
    }

    private func random(_ seed: UInt8) -> [UInt8] { (0..<80).map { seed &+ $0 } }

    /// A card as the issuer signs it, or another signer.
    private func card(
        _ claims: JSONObject = ["member": .bool(true), "name": .string("Alice")],
        type: JSONText = "urn:signet:member-card:1",
        by signer: P256.Signing.PrivateKey? = nil, entry: Int64? = nil
    ) throws -> HeldCredential {
        let signer = signer ?? issuerKey
        var open: JSONObject = ["iss": .string(try did(signer)), "vct": .string(type)]
        open["status"] = try entry.map { .object(try StatusReference(uri: Self.list, index: $0).claim) }
        var generator = SystemRandomNumberGenerator()
        let draft = CredentialDraft(open: open, hidden: claims, holder: WebKey(holderKey.publicKey))
        let text = try draft.issued(using: &generator) { try? Array(signer.signature(for: $0).rawRepresentation) }
        return try HeldCredential(decoding: text)
    }

    private func statusList(_ status: UInt8, by key: P256.Signing.PrivateKey? = nil) throws -> [UInt8] {
        var draft = try StatusListDraft(count: 64)
        try draft.set(status, at: 7)
        let key = key ?? issuerKey
        return try draft.signed(for: StatusReference(uri: Self.list, index: 7), at: Self.now) {
            Array(try key.signature(for: $0).rawRepresentation)
        }
    }

    /// The request as a wallet accepts it.
    private func accepted(_ link: [UInt8], _ desk: inout PresentationDesk) throws -> (AcceptedRequest, JSONText) {
        let address = try #require(try RequestLink(decoding: link).requestAddress.flatMap { HTTPSAddress($0) })
        let identifier = try #require(address.path.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) })
        let name = try #require(JSONText(utf8: identifier))
        let object = try desk.object(name, walletNonce: "wallet-nonce-of-24-bytes", signedBy: siteKey, at: Self.now)
        let request = try RequestVerifier.verify(
            link: link, object: object, trusting: OneSite(key: siteKey.publicKey, host: site.host),
            walletNonce: "wallet-nonce-of-24-bytes", at: Self.now)
        return (request, name)
    }

    private func presentation(
        of card: HeldCredential, disclosing names: Set<JSONText> = ["member"], to audience: JSONText, nonce: JSONText,
        by key: P256.Signing.PrivateKey? = nil
    ) throws -> JSONText {
        let key = key ?? holderKey
        let text = try card.presented(
            disclosing: { $0.name.map(names.contains) ?? false }, audience: audience, nonce: nonce, at: Self.now
        ) { Array(try key.signature(for: $0).rawRepresentation) }
        return try #require(JSONText(utf8: text))
    }

    /// Asks alice, and gives the desk an answer that is made from the request.
    private func fault(
        _ desk: inout PresentationDesk, lists: [[UInt8]] = [],
        _ answer: (AcceptedRequest) throws -> JSONText
    ) throws -> PresentationDeskFault? {
        let (request, name) = try accepted(try desk.ask(Self.alice, random: random(9), at: Self.now), &desk)
        let sealed = try #require(ResponseDraft(presentations: ["card": try answer(request)]).sealed(for: request))
        do throws(PresentationDeskFault) {
            _ = try desk.receive(sealed, for: name, statusLists: lists, at: Self.now)
            return nil
        } catch { return error }
    }

    private func fault(of card: HeldCredential, lists: [[UInt8]] = []) throws -> PresentationDeskFault? {
        var desk = try desk()
        return try fault(&desk, lists: lists) { try presentation(of: card, to: $0.clientID, nonce: $0.nonce) }
    }

    private func code(in received: ReceivedCard) throws -> JSONText {
        let text = try #require(received.address).description
        #expect(text.hasPrefix("https://shop.example:8443/.well-known/signet/cards/finish#response_code="))
        return JSONText(String(text.suffix(CardRoute.codeByteCount)))
    }

    // MARK: What holds

    @Test(arguments: SiteQuestion.allCases)
    func aMemberProvesWhatIsAsked_andFinishesInTheirSession(_ question: SiteQuestion) throws {
        var desk = try desk(question)
        let (request, name) = try accepted(try desk.ask(Self.alice, random: random(0), at: Self.now), &desk)
        #expect(request.query.purpose != nil)
        let card = try card([question.claim: .bool(true)], type: question.type)
        let query = try #require(request.query.needed { $0.claims(shownBy: card) != nil })
        #expect(query.map { $0.claims(shownBy: card) } == [[question.claim: .bool(true)]])
        let shown = try presentation(
            of: card, disclosing: [question.claim], to: request.clientID, nonce: request.nonce)
        let sealed = try #require(ResponseDraft(presentations: ["card": shown]).sealed(for: request))
        let address = try desk.receive(sealed, for: name, statusLists: [], at: Self.now)
        #expect(try desk.finish(try code(in: address), by: Self.alice, at: Self.now) == question)
    }

    @Test func anAnswerIsAcceptedOnce_andSoIsItsResponseCode() throws {
        var desk = try desk()
        let (request, name) = try accepted(try desk.ask(Self.alice, random: random(0), at: Self.now), &desk)
        let shown = try presentation(of: try card(), to: request.clientID, nonce: request.nonce)
        let sealed = try #require(ResponseDraft(presentations: ["card": shown]).sealed(for: request))
        let address = try desk.receive(sealed, for: name, statusLists: [], at: Self.now)
        #expect(throws: PresentationDeskFault.unknownRequest) {
            try desk.receive(sealed, for: name, statusLists: [], at: Self.now)
        }
        let code = try code(in: address)
        _ = try desk.finish(code, by: Self.alice, at: Self.now)
        #expect(throws: PresentationDeskFault.unknownRequest) { try desk.finish(code, by: Self.alice, at: Self.now) }
    }

    /// A site, or a person who saw an earlier answer, has a presentation that was made for another request.
    @Test func aPresentationForAnotherRequestOrSiteIsRefused() throws {
        var desk = try desk()
        let card = try card()
        let (earlier, _) = try accepted(try desk.ask(Self.alice, random: random(0), at: Self.now), &desk)
        let replayed = try presentation(of: card, to: earlier.clientID, nonce: earlier.nonce)
        #expect(try fault(&desk) { _ in replayed } == .presentation(.bindingNonce))
        #expect(
            try fault(&desk) { try presentation(of: card, to: "x509_san_dns:bank.example", nonce: $0.nonce) }
                == .presentation(.bindingAudience))
    }

    @Test func aCardOfAnotherPersonIsRefused() throws {
        var desk = try desk()
        let card = try card()
        let thief = P256.Signing.PrivateKey()
        #expect(
            try fault(&desk) { try presentation(of: card, to: $0.clientID, nonce: $0.nonce, by: thief) }
                == .presentation(.bindingSignature))
    }

    @Test func aCardThatTheHolderOrAStrangerSignedIsRefused() throws {
        for signer in [holderKey, P256.Signing.PrivateKey()] {
            #expect(try fault(of: try card(by: signer)) == .presentation(.issuerUntrusted))
        }
    }

    @Test func aCardWithoutWhatIsAskedIsRefused() throws {
        #expect(try fault(of: try card(["member": .bool(false)])) == .claim)
        #expect(try fault(of: try card(["name": .string("Alice")])) == .presentation(.claimsMissing))
        #expect(try fault(of: try card(type: "urn:signet:age:1")) == .presentation(.type))
    }

    @Test func aWithdrawnCardIsRefused_andSoIsOneWhoseStatusIsUnknown() throws {
        let card = try card(entry: 7)
        #expect(try fault(of: card, lists: [try statusList(0)]) == nil)
        #expect(try fault(of: card, lists: [try statusList(1)]) == .withdrawn)
        #expect(try fault(of: card) == .statusUnknown)
        #expect(try fault(of: card, lists: [try statusList(0, by: holderKey)]) == .statusUnknown)
        #expect(try fault(of: try self.card(entry: 64), lists: [try statusList(0)]) == .statusUnknown)
        #expect(try fault(of: card, lists: [[1, 2], try statusList(0)]) == nil)
    }

    /// Bob begins, and has alice answer his request.
    @Test func anAnswerIsWorthNothingToAnotherSession() throws {
        var desk = try desk()
        let (request, name) = try accepted(try desk.ask(Self.bob, random: random(0), at: Self.now), &desk)
        let shown = try presentation(of: try card(), to: request.clientID, nonce: request.nonce)
        let sealed = try #require(ResponseDraft(presentations: ["card": shown]).sealed(for: request))
        let code = try code(in: try desk.receive(sealed, for: name, statusLists: [], at: Self.now))
        #expect(throws: PresentationDeskFault.anotherSession) { try desk.finish(code, by: Self.alice, at: Self.now) }
        #expect(throws: PresentationDeskFault.unknownRequest) { try desk.finish(code, by: Self.bob, at: Self.now) }
    }

    @Test func aRequestIsGivenOnce_andExpires() throws {
        var desk = try desk()
        let link = try desk.ask(Self.alice, random: random(0), at: Self.now)
        let (request, name) = try accepted(link, &desk)
        #expect(throws: PresentationDeskFault.unknownRequest) { try accepted(link, &desk) }
        let shown = try presentation(of: try card(), to: request.clientID, nonce: request.nonce)
        let sealed = try #require(ResponseDraft(presentations: ["card": shown]).sealed(for: request))
        let late = Self.now + PresentationDesk.lifetime
        #expect(throws: PresentationDeskFault.unknownRequest) {
            try desk.receive(sealed, for: name, statusLists: [], at: late)
        }
        let code = try code(in: try desk.receive(sealed, for: name, statusLists: [], at: late - 1))
        #expect(throws: PresentationDeskFault.unknownRequest) { try desk.finish(code, by: Self.alice, at: late) }
    }

    @Test func anAnswerToARequestThatNoOneFetchedIsRefused() throws {
        var desk = try desk()
        var copy = desk
        let (request, name) = try accepted(try desk.ask(Self.alice, random: random(0), at: Self.now), &desk)
        let shown = try presentation(of: try card(), to: request.clientID, nonce: request.nonce)
        let sealed = try #require(ResponseDraft(presentations: ["card": shown]).sealed(for: request))
        _ = try copy.ask(Self.alice, random: random(0), at: Self.now)
        #expect(throws: PresentationDeskFault.unknownRequest) {
            try copy.receive(sealed, for: name, statusLists: [], at: Self.now)
        }
    }

    /// A member who asks again and again takes one place; members who never answer take all places for five minutes.
    @Test func aMemberHasOneOpenRequest_andTheNumberOfAllIsLimited() async throws {
        var desk = try desk()
        let first = try desk.ask(Self.alice, random: random(0), at: Self.now)
        _ = try desk.ask(Self.alice, random: random(1), at: Self.now)
        #expect(throws: PresentationDeskFault.unknownRequest) { try accepted(first, &desk) }
        for number in 0..<PresentationDesk.maximumCount - 1 {
            await Task.yield()  // Tests of real servers share the threads.
            let own = [UInt8(number >> 8), UInt8(number & 255)]
            _ = try desk.ask(own, random: own + [UInt8](repeating: 5, count: 78), at: Self.now)
        }
        #expect(throws: PresentationDeskFault.busy) { try desk.ask(Self.bob, random: random(3), at: Self.now) }
        #expect(throws: Never.self) { try desk.ask(Self.alice, random: random(4), at: Self.now) }
        #expect(throws: Never.self) {
            try desk.ask(Self.bob, random: random(5), at: Self.now + PresentationDesk.lifetime)
        }
    }

    // MARK: Sessions of browsers

    private static let challenge = [UInt8](repeating: 7, count: 32)
    private static let session = [UInt8](repeating: 3, count: 32)

    /// Asks a browser's session, and gives the desk an answer with a sign-in and digits.
    private func received(
        _ desk: inout PresentationDesk, showing digits: JSONText?, signIn: [UInt8]?, entering entered: JSONText?
    ) throws -> Result<ReceivedCard, PresentationDeskFault> {
        let question = try #require(BrowserQuestion(challenge: Self.challenge, digits: digits))
        let link = try desk.ask(Self.session, for: question, random: random(3), at: Self.now)
        let (request, name) = try accepted(link, &desk)
        #expect(request.signIn == BrowserSignIn(challenge: Self.challenge, needsDigits: digits != nil))
        let shown = try presentation(of: try card(), to: request.clientID, nonce: request.nonce)
        let draft = ResponseDraft(presentations: ["card": shown], signIn: signIn, digits: entered)
        let sealed = try #require(draft.sealed(for: request))
        do throws(PresentationDeskFault) {
            let card = try desk.receive(sealed, for: name, statusLists: [], at: Self.now)
            #expect((desk.asker(of: name) == nil) == (digits != nil), "there is nothing more to do for another device")
            return .success(card)
        } catch {
            if case .response = error {} else { #expect(desk.asker(of: name) == nil, "there is no second try") }
            return .failure(error)
        }
    }

    /// A person is brought to answer for a browser that is not theirs.
    @Test func theBrowserThatBeganFinishes_andNoOther() throws {
        for (finisher, isSame) in [(Self.session, true), (Self.alice, false)] {
            var desk = try desk()
            let received = try received(&desk, showing: nil, signIn: [9], entering: nil).get()
            #expect(received.asker == Self.session)
            #expect(received.signIn == ReceivedSignIn(challenge: Self.challenge, answer: [9]))
            let code = try code(in: received)
            if isSame {
                #expect(try desk.finish(code, by: finisher, at: Self.now) == .member)
            } else {
                #expect(throws: PresentationDeskFault.anotherSession) {
                    try desk.finish(code, by: finisher, at: Self.now)
                }
                #expect(throws: PresentationDeskFault.unknownRequest) {
                    try desk.finish(code, by: Self.session, at: Self.now)
                }
            }
        }
    }

    /// A code that somebody else shows has other digits, or none that the person could see.
    @Test func aWalletOnAnotherDeviceRepeatsTheDigits_andHasOneTry() throws {
        var desk = try desk()
        let good = try received(&desk, showing: "47", signIn: [9], entering: "47").get()
        #expect(good.address == nil, "there is no browser on this device that could go on")
        for entered in ["48", "74", nil] as [JSONText?] {
            #expect(try received(&desk, showing: "47", signIn: [9], entering: entered) == .failure(.digits))
        }
        #expect(try received(&desk, showing: "47", signIn: [9], entering: "4") == .failure(.response(.digits)))
        #expect(try received(&desk, showing: nil, signIn: [9], entering: "47") == .failure(.digits))
    }

    /// Anyone can begin a session of a browser, without an account: they take no place that members have.
    @Test func sessionsOfBrowsersTakeNoMembersPlace() async throws {
        var desk = try desk()
        let question = try #require(BrowserQuestion(challenge: Self.challenge, digits: nil))
        for number in 0..<PresentationDesk.maximumCount {
            await Task.yield()  // Tests of real servers share the threads.
            let own = [UInt8(number >> 8), UInt8(number & 255)]
            _ = try desk.ask(own, for: question, random: own + [UInt8](repeating: 5, count: 78), at: Self.now)
        }
        #expect(throws: PresentationDeskFault.busy) {
            try desk.ask(Self.session, for: question, random: random(3), at: Self.now)
        }
        #expect(throws: Never.self) { try desk.ask(Self.alice, random: random(4), at: Self.now) }
    }

    @Test func anAnswerForABrowserWithoutASignInIsRefused() throws {
        var desk = try desk()
        #expect(try received(&desk, showing: nil, signIn: nil, entering: nil) == .failure(.signIn))
    }

    @Test func aBrowserIsAskedWithAChallengeAndTwoDigits() {
        #expect(BrowserQuestion(challenge: Self.challenge, digits: "00") != nil)
        #expect(BrowserQuestion(challenge: [1], digits: nil) == nil)
        for digits in ["4", "477", "4a", "-4", ""] as [JSONText] {
            #expect(BrowserQuestion(challenge: Self.challenge, digits: digits) == nil)
        }
    }

    @Test func everyFaultHasANameOfPlainCharacters() {
        let faults: [PresentationDeskFault] =
            [.busy, .unknownRequest, .signing, .claim, .withdrawn, .statusUnknown, .anotherSession, .digits, .signIn]
            + ResponseFault.allCases.map { .response($0) } + PresentationFault.allCases.map { .presentation($0) }
        for fault in faults {
            #expect(
                fault.name.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "._-".utf8.contains($0)
                })
        }
    }
}

/// Which claims of a card a query makes a wallet show.
struct MatchingTests {
    private func query(_ query: JSONValue) throws -> CredentialsQuery { try CredentialsQuery(query) }

    private func card(_ claims: JSONObject) throws -> HeldCredential {
        let key = P256.Signing.PrivateKey()
        var generator = SystemRandomNumberGenerator()
        let draft = CredentialDraft(open: ["vct": .string("urn:card")], hidden: claims, holder: WebKey(key.publicKey))
        let text = try draft.issued(using: &generator) { try? Array(key.signature(for: $0).rawRepresentation) }
        return try HeldCredential(decoding: text)
    }

    private func shown(_ claims: [JSONObject], sets: [[JSONText]] = []) throws -> [JSONText]? {
        var changes: JSONObject = ["claims": .array(claims.map { .object($0) })]
        if !sets.isEmpty { changes["claim_sets"] = .array(sets.map { .array($0.map(JSONValue.string)) }) }
        let card = try card([
            "age_over_18": .bool(true), "name": .string("Ming"), "address": .object(["city": .string("Ulm")]),
        ])
        return try query(AskingSite.query(changes)).credentials[0].claims(shownBy: card)?.names
    }

    private func claim(_ path: [JSONValue], id: String? = nil, values: [JSONValue]? = nil) -> JSONObject {
        var claim: JSONObject = ["path": .array(path)]
        claim["id"] = id.map { .string(JSONText($0)) }
        claim["values"] = values.map(JSONValue.array)
        return claim
    }

    @Test func onlyWhatIsAskedForIsShown() throws {
        #expect(try shown([claim([.string("name")])]) == ["name"])
        #expect(try shown([claim([.string("name")]), claim([.string("age_over_18")])]) == ["age_over_18", "name"])
        #expect(try shown([claim([.string("email")])]) == nil)
        #expect(try shown([claim([.string("age_over_18")], values: [.bool(false)])]) == nil)
        #expect(try shown([claim([.string("age_over_18")], values: [.bool(false), .bool(true)])]) == ["age_over_18"])
    }

    @Test func aQueryForAnotherTypeShowsNothing() throws {
        let query = try query(AskingSite.query(["meta": .object(["vct_values": .array([.string("urn:other")])])]))
        #expect(query.credentials[0].claims(shownBy: try card(["age_over_18": .bool(true)])) == nil)
    }

    @Test func aPartOfAClaimIsNotShown_becauseTheWholeWouldBe() throws {
        #expect(try shown([claim([.string("address"), .string("city")])]) == nil)
        #expect(try shown([claim([.null])]) == nil)
    }

    @Test func theFirstSetOfClaimsThatTheCardHasIsShown() throws {
        let claims = [claim([.string("email")], id: "a"), claim([.string("name")], id: "b")]
        #expect(try shown(claims, sets: [["a"], ["b"]]) == ["name"])
        #expect(try shown(claims, sets: [["a", "b"]]) == nil)
    }

    @Test func anOptionalCardIsNotShown_andOneOptionOfARequiredSetIs() throws {
        func needed(_ sets: JSONValue?, _ available: Set<JSONText>) throws -> [JSONText]? {
            let credentials = ["card", "other"].map { name -> JSONValue in
                .object([
                    "id": .string(JSONText(name)), "format": .string("dc+sd-jwt"),
                    "meta": .object(["vct_values": .array([.string("urn:card")])]),
                ])
            }
            var object: JSONObject = ["credentials": .array(credentials)]
            object["credential_sets"] = sets
            return try query(.object(object)).needed { available.contains($0.name) }?.map(\.name)
        }
        func set(_ options: [[JSONText]], required: Bool = true) -> JSONValue {
            .object([
                "options": .array(options.map { .array($0.map(JSONValue.string)) }), "required": .bool(required),
            ])
        }
        #expect(try needed(nil, ["card", "other"]) == ["card", "other"])
        #expect(try needed(nil, ["card"]) == nil)
        #expect(try needed(.array([set([["other"], ["card"]])]), ["card"]) == ["card"])
        #expect(try needed(.array([set([["other"]])]), ["card"]) == nil)
        #expect(
            try needed(.array([set([["card"]]), set([["other"]], required: false)]), ["card", "other"]) == ["card"])
    }
}

/// An authority that certifies one site.
private struct OneSite: CertificateTrust {
    let key: P256.Signing.PublicKey
    let host: JSONText

    func signer(of chain: [[UInt8]], at now: Int64) throws(CertificateTrustFault) -> CertifiedSigner {
        CertifiedSigner(key: key, hosts: [host], identifiers: [], certificate: chain[0])
    }
}
