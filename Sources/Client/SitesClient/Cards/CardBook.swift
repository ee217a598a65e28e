// SPDX-License-Identifier: Apache-2.0

import Crypto
public import DeviceIdentity
public import JOSE
public import SelectiveDisclosure
public import SignetClient
import StrictJSON
import TokenStatusList

/// The cards that issuers made for a person, each in copies of which a site sees one.
///
/// A key is durable before an issuer hears of it, and a copy is assigned to a site before the site sees it: an interruption in
/// between loses at most a copy.
public actor CardBook {
    /// At most so many keys wait for copies.
    public static let maximumWaitingCount = 200
    /// A card has at most so many copies.
    public static let maximumCopyCount = 50

    let keystore: any PrivateKeyStore
    let list: LedgerFile<CardLedger>
    let clock: @Sendable () -> UInt64

    /// A book over a keystore and a file.
    public init(
        keys keystore: any PrivateKeyStore, list file: DurableFile,
        clock: @escaping @Sendable () -> UInt64 = Surroundings.system.now
    ) {
        self.keystore = keystore
        self.clock = clock
        list = LedgerFile(keys: keystore, sealedUnder: .cardList, file: file)
    }

    /// Makes keys to which an issuer binds the copies of one card. Give keys to one issuer only: two issuers who got the same keys
    /// know that they issue to one person.
    ///
    /// - Parameter count: how many copies, 1 to ``maximumCopyCount``, and so at how many sites the card can be shown.
    /// - Throws: ``SitesError``; ``CardFault/tooManyKeys`` for any other number too.
    public func keys(forCopies count: Int, _ grant: consuming PresenceGrant) async throws(SitesError) -> [WebKey] {
        guard (1...Self.maximumCopyCount).contains(count) else { throw .card(.tooManyKeys) }
        let (_, seal) = try await list.open(grant)
        let first = try list.change(under: seal) { ledger throws(SitesError) in
            guard ledger.waiting.count + count <= Self.maximumWaitingCount else { throw .card(.tooManyKeys) }
            let first = ledger.nextKey
            ledger.nextKey += UInt64(count)
            ledger.waiting.formUnion(first..<ledger.nextKey)
            return first
        }
        var keys: [WebKey] = []
        for number in first..<first + UInt64(count) { keys.append(try await makeKey(number)) }
        return keys
    }

    /// Adds a card that an issuer made, in one or more copies.
    ///
    /// - Parameters:
    ///   - texts: the copies, as the issuer sent them.
    ///   - trust: the issuers whom the person named. What people state about themselves is refused in any case.
    /// - Throws: ``SitesError``; nothing was added.
    public func add(
        _ texts: [[UInt8]], trusting trust: IssuerTrust, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> IssuedCard {
        let (ledger, seal) = try await list.open(grant)
        let issued = try verified(texts, trusting: trust)
        return try await keep(issued, for: try await waitingKeys(ledger, ledger.waiting), seal)
    }

    /// Adds the card of an offer: what was offered, by the one who offered it, one copy for each key.
    func add(
        _ texts: [[UInt8]], of offer: CardOffer, _ begun: CardLedger.BegunOffer, trusting trust: IssuerTrust,
        _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> IssuedCard {
        let (ledger, seal) = try await list.open(grant)
        let issued = try verified(texts, trusting: trust)
        guard issued.allSatisfy({ $0.isSigned(by: offer.host) }) else { throw .card(.anotherIssuer) }
        guard issued.allSatisfy({ $0.credential.type == offer.type }) else { throw .card(.anotherType) }
        return try await keep(issued, for: try await waitingKeys(ledger, Set(begun.keys)), seal)
    }

    private func verified(_ texts: [[UInt8]], trusting trust: IssuerTrust) throws(SitesError) -> [IssuedCopy] {
        var issued: [IssuedCopy] = []
        for text in texts { issued.append(try IssuedCopy(text, trusting: trust, at: Int64(clamping: clock()))) }
        try Self.checkOneCard(issued)
        return issued
    }

    /// Keeps all copies or none, in one change of the list.
    private func keep(
        _ issued: [IssuedCopy], for keys: [WebKey: UInt64], _ seal: SymmetricKey
    ) async throws(SitesError) -> IssuedCard {
        var copies: [CardLedger.Copy] = []
        for copy in issued {
            guard let key = keys[copy.holder], !copies.contains(where: { $0.key == key }) else {
                throw .card(.anotherKey)
            }
            copies.append(.init(key: key, credential: copy.credential, site: nil))
        }
        return try list.change(under: seal) { [copies] ledger throws(SitesError) in
            guard let issuer = issued.first?.issuer, copies.allSatisfy({ ledger.waiting.contains($0.key) }) else {
                throw .card(.anotherKey)
            }
            let card = CardLedger.Card(number: ledger.nextCard, issuer: issuer, copies: copies)
            ledger.nextCard += 1
            ledger.close(copies.map(\.key))
            ledger.cards.append(card)
            return IssuedCard(card)
        }
    }

    /// All cards, in the order in which they were added.
    ///
    /// - Throws: ``SitesError``.
    public func cards(_ grant: consuming PresenceGrant) async throws(SitesError) -> [IssuedCard] {
        try await list.open(grant).0.cards.map(IssuedCard.init)
    }

    /// Forgets a card and erases the keys of its copies. The issuer is not asked.
    ///
    /// - Throws: ``SitesError``.
    public func remove(_ number: UInt64, _ grant: consuming PresenceGrant) async throws(SitesError) {
        let (_, seal) = try await list.open(grant)
        let keys = try list.change(under: seal) { ledger throws(SitesError) in
            guard let place = ledger.cards.firstIndex(where: { $0.number == number }) else {
                throw .card(.unknown(number))
            }
            return ledger.cards.remove(at: place).copies.map(\.key)
        }
        try await erase(keys)
    }

    /// Erases the keys for which no copies have arrived. A card that an issuer makes for one of them later cannot be added.
    ///
    /// - Throws: ``SitesError``.
    public func forgetWaitingKeys(_ grant: consuming PresenceGrant) async throws(SitesError) {
        let (_, seal) = try await list.open(grant)
        let keys = try list.change(under: seal) { ledger throws(SitesError) in
            defer { (ledger.waiting, ledger.offers) = ([], []) }
            return ledger.waiting.sorted() + ledger.offers.map(\.wallet)
        }
        try await erase(keys)
    }

    // MARK: Keys

    func makeKey(_ number: UInt64) async throws(SitesError) -> WebKey {
        do throws(PrivateKeyStoreError) {
            let bytes = try await keystore.makeKey(.p256Signing, named: .card(number))
            guard let key = WebKey(compressed: bytes) else { throw .damaged }
            return key
        } catch { throw .keystore(error) }
    }

    private func waitingKeys(
        _ ledger: CardLedger, _ numbers: Set<UInt64>
    ) async throws(SitesError) -> [WebKey: UInt64] {
        var keys: [WebKey: UInt64] = [:]
        for number in ledger.waiting.intersection(numbers).sorted() {
            do throws(PrivateKeyStoreError) {
                guard let stored = try await keystore.key(named: .card(number)) else { continue }
                if let key = WebKey(compressed: stored.publicKey) { keys[key] = number }
            } catch { throw .keystore(error) }
        }
        return keys
    }

    func erase(_ keys: [UInt64]) async throws(SitesError) {
        for number in keys {
            do { try await keystore.erase(.card(number)) } catch { throw .keystore(error) }
        }
    }

    // MARK: Copies

    /// All copies state the same, under the same type and issuer, and have nothing else in common by which sites could link them.
    private static func checkOneCard(_ copies: [IssuedCopy]) throws(SitesError) {
        guard let first = copies.first else { throw .card(.notIssued(.form)) }
        guard copies.allSatisfy({ $0.isCopy(of: first) }) else { throw .card(.mixed) }
        let entries = copies.compactMap(\.status)
        guard Set(entries).count == entries.count else { throw .card(.linkable) }
        let digests = copies.flatMap { $0.credential.payload["_sd"]?.strings ?? [] }
        guard Set(digests).count == digests.count else { throw .card(.linkable) }
        let salts = copies.flatMap { $0.credential.disclosures.map(\.salt) }
        guard Set(salts).count == salts.count else { throw .card(.linkable) }
        let digestCounts = Set(copies.map { $0.credential.payload["_sd"]?.array?.count ?? 0 })
        guard digestCounts.count == 1 else { throw .card(.linkable) }
    }
}

/// A copy that a trusted issuer signed.
private struct IssuedCopy: Sendable {
    let credential: HeldCredential
    let holder: WebKey
    let issuer: JSONText
    let status: StatusReference?
    private let signer: CredentialIssuer

    init(_ text: [UInt8], trusting trust: IssuerTrust, at now: Int64) throws(SitesError) {
        var trust = trust
        trust.acceptsSelfIssued = false
        let verified: VerifiedPresentation
        do throws(PresentationFault) {
            credential = try HeldCredential(decoding: text)
            let request = VerificationRequest(
                types: credential.type.map { [$0] } ?? [],
                binding: .init(isRequired: false, audience: "", nonce: ""))
            verified = try PresentationVerifier.verify(text, for: request, trusting: trust, at: now)
        } catch { throw .card(.notIssued(error)) }
        guard let key = verified.claims["cnf"]?.object?["jwk"]?.object, let holder = try? WebKey(key) else {
            throw .card(.anotherKey)
        }
        guard let issuer = Self.name(of: verified.issuer) else { throw .card(.namelessIssuer) }
        (self.holder, self.issuer, signer) = (holder, issuer, verified.issuer)
        status = try verified.status.map { claim throws(SitesError) in try Self.status(claim) }
        try checkUnmarked()
    }

    /// Whether the issuer's certificate names this host, at whatever port: certificates name no ports.
    func isSigned(by host: VerifiedHost) -> Bool {
        guard case .certified(let signer) = signer else { return false }
        return signer.hosts.contains { host.isNamed($0.utf8) }
    }

    /// What every site sees has no room for a mark that all copies of one person have: an identifier, or a time that is finer than a day.
    private func checkUnmarked() throws(SitesError) {
        let (header, payload) = (credential.header, credential.payload)
        guard Set(header.names).isSubset(of: ["alg", "typ", "x5c"]),
            Set(payload.names).isSubset(of: Self.unmarked),
            ["exp", "iat", "nbf"].allSatisfy({ (payload[$0]?.integer ?? 0).isMultiple(of: 86_400) })
        else { throw .card(.linkable) }
    }

    private static let unmarked: Set<JSONText> = [
        "iss", "vct", "exp", "iat", "nbf", "cnf", "status", "_sd", "_sd_alg",
    ]

    func isCopy(of other: IssuedCopy) -> Bool {
        issuer == other.issuer && credential.type == other.credential.type
            && credential.hidden == other.credential.hidden
            && credential.payload["exp"] == other.credential.payload["exp"]
    }

    /// The entry, in a list whose address says nothing more than which list it is.
    private static func status(_ claim: JSONObject) throws(SitesError) -> StatusReference {
        guard let reference = try? StatusReference(claim),
            !reference.uri.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
        else { throw .card(.linkable) }
        return reference
    }

    private static func name(of issuer: CredentialIssuer) -> JSONText? {
        switch issuer {
        case .named(let name), .holder(let name): name
        case .certified(let signer): signer.hosts.first ?? signer.identifiers.first
        }
    }
}

extension WebKey {
    /// A key of a keystore: a P-256 point, compressed, 33 bytes.
    init?(compressed bytes: [UInt8]) {
        guard let key = try? P256.Signing.PublicKey(compressedRepresentation: bytes) else { return nil }
        self.init(key)
    }
}
