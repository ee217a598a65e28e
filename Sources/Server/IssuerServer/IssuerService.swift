// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Credentials
package import Crypto
import HTTPTypes
package import Issuance
import JOSE
import Presentation
import SelectiveDisclosure
package import SiteServer
package import StrictJSON
import TokenStatusList

/// An issuer's decisions about requests, without a connection.
package struct IssuerService: Sendable {
    /// A request, as far as an issuer looks at it.
    package struct Question: Sendable {
        package let route: IssuerRoute
        /// The header field `authorization`.
        package let authorization: String?
        /// The header field `dpop`.
        package let senderProof: String?
        package let body: [UInt8]

        package init(route: IssuerRoute, authorization: String? = nil, senderProof: String? = nil, body: [UInt8] = []) {
            (self.route, self.authorization, self.senderProof, self.body) = (route, authorization, senderProof, body)
        }
    }

    /// What the issuer calls its one kind of card.
    package static let configuration: JSONText = "member-card"
    /// So many copies are made at a time.
    package static let batchSize = 50

    private let database: IssuerDatabase
    private let key: P256.Signing.PrivateKey
    private let certificates: [[UInt8]]
    private let clock: @Sendable () -> Int64

    /// - Parameters:
    ///   - key: of the first certificate; cards and status lists are signed with it.
    ///   - certificates: DER.
    ///   - clock: seconds since 1970.
    package init(
        _ database: IssuerDatabase, key: P256.Signing.PrivateKey, certificates: [[UInt8]],
        clock: @escaping @Sendable () -> Int64
    ) {
        self.database = database
        self.key = key
        self.certificates = certificates
        self.clock = clock
    }

    private var metadata: IssuerMetadata {
        IssuerMetadata(
            issuer: database.issuer, configuration: Self.configuration, type: SiteQuestion.member.type,
            batchSize: Self.batchSize)
    }

    /// Answers a request.
    package func answer(_ question: Question) async -> SiteReply {
        do {
            switch question.route {
            case .metadata: return Self.json(metadata.issuerObject)
            case .server: return Self.json(metadata.serverObject)
            case .nonce:
                return Self.json(NonceAnswer.object(database.nonces.nonce(random: Self.random(16), at: clock())))
            case .token: return Self.json(try await token(question).object)
            case .credential: return Self.json(try await copies(question).object)
            case .status:
                return SiteReply(mediaType: "application/statuslist+jwt", try await statusList())
            }
        } catch let refusal as TokenRefusal {
            return Self.json(["error": .string(refusal.code)], status: .badRequest)
        } catch let refusal as CopiesRefusal {
            return Self.json(
                ["error": .string(refusal.code)], status: refusal.isAboutToken ? .unauthorized : .badRequest)
        } catch { return SiteReply(status: .serviceUnavailable) }
    }

    private static func json(_ object: JSONObject, status: HTTPResponse.Status = .ok) -> SiteReply {
        SiteReply(status: status, mediaType: "application/json", object.encoded)
    }

    // MARK: The steps of an issuance

    private func token(_ question: Question) async throws -> TokenAnswer {
        let now = clock()
        let request = try TokenRequest(decoding: question.body)
        let wallet: WebKey
        do throws(WalletTokenFault) {
            wallet = try sender(question, accessToken: nil, now)
        } catch { throw TokenRefusal.sender(error) }
        let token = JSONText(String(decoding: Base64URL.encode(Self.random(32)), as: UTF8.self))
        return try await database.decide(.code(request.code)) { offer throws(TokenRefusal) in
            guard let answer = try offer?.redeem(request, by: wallet, for: token, at: now) else { throw .unknown }
            return answer
        }.value
    }

    private func copies(_ question: Question) async throws -> CopiesAnswer {
        let now = clock()
        guard let token = Self.accessToken(question.authorization) else { throw CopiesRefusal.token }
        let wallet: WebKey
        do throws(WalletTokenFault) {
            wallet = try sender(question, accessToken: token, now)
        } catch { throw CopiesRefusal.sender(error) }
        let request = try CopiesRequest(decoding: question.body)
        let (metadata, nonces) = (metadata, database.nonces)
        let made = try await database.decide(.token(token)) { offer throws(CopiesRefusal) in
            let keys = try offer?.keys(for: request, by: wallet, with: token, from: metadata, nonces: nonces, at: now)
            guard let keys else { throw .token }
            return keys
        }
        guard let offer = made.offer else { throw CopiesRefusal.token }
        return CopiesAnswer(copies: try sign(offer, for: made.value))
    }

    /// The wallet that a request comes from.
    private func sender(
        _ question: Question, accessToken: JSONText?, _ now: Int64
    ) throws(WalletTokenFault) -> WebKey {
        try SenderProof.verify(
            Array((question.senderProof ?? "").utf8), to: database.issuer.address(of: question.route),
            accessToken: accessToken, at: now)
    }

    private static func accessToken(_ field: String?) -> JSONText? {
        let scheme = "DPoP "
        guard let field, field.utf8.starts(with: scheme.utf8) else { return nil }
        return JSONText(utf8: Array(field.utf8.dropFirst(scheme.utf8.count)))
    }

    // MARK: Cards

    private func sign(_ offer: IssuerDatabase.Offer, for keys: [WebKey]) throws -> [[UInt8]] {
        let card = MemberCard(
            issuer: nil, type: SiteQuestion.member.type,
            claims: [SiteQuestion.member.claim: .bool(true), "name": .string(JSONText(offer.member))],
            expiry: offer.cardExpiry, certificates: certificates)
        let copies = try keys.map { key in
            guard let place = offer.places[key.thumbprint] else { throw IssuerStoreError.damaged }
            return MemberCard.Copy(holder: key, status: try StatusReference(uri: statusAddress, index: place))
        }
        var generator = SystemRandomNumberGenerator()
        return try card.drafts(copies).map { draft in
            try draft.issued(using: &generator) { try? Array(key.signature(for: $0).rawRepresentation) }
        }
    }

    private var statusAddress: JSONText { database.issuer.address(of: .status) }

    private func statusList() async throws -> [UInt8] {
        try await database.statusList().signed(for: StatusReference(uri: statusAddress, index: 0), at: clock()) {
            Array(try key.signature(for: $0).rawRepresentation)
        }
    }

    private static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
