// SPDX-License-Identifier: Apache-2.0

import CredentialChains
import Credentials
import Crypto
import DeviceIdentity
import Foundation
import KeyPinning
public import Presentation
import SelectiveDisclosure
public import StrictJSON

/// What a site asks its members to prove with a card, and whom it believes.
public struct SiteAsking: Sendable {
    /// The question.
    public let question: SiteQuestion
    let trust: IssuerTrust
    /// Status lists of the issuers in JWT form. They are read at each answer: whoever runs the site fetches them by a schedule, so that
    /// issuers do not learn when a card is shown.
    let statusLists: [String]

    /// A question.
    ///
    /// - Parameters:
    ///   - roots: PEM of the authorities that certify issuers; nil for none.
    ///   - issuers: did:keys of further issuers.
    ///   - statusLists: the files of status lists.
    /// - Throws: ``SiteServerError/invalidIssuers``: one cannot be read, or there is none.
    public init(
        _ question: SiteQuestion, roots: [UInt8]?, issuers: [JSONText], statusLists: [String]
    ) throws(SiteServerError) {
        self.question = question
        self.statusLists = statusLists
        let known = issuers.compactMap { TrustedIssuer(did: $0) }
        guard known.count == issuers.count, roots != nil || !known.isEmpty else { throw .invalidIssuers }
        do {
            let chains = try roots.map { try RootTrust(roots: PEMBlock.certificates(in: $0)) }
            trust = IssuerTrust(issuers: known, certificates: chains)
        } catch { throw .invalidIssuers }
    }

    /// The lists that can be read now; a longer one than any that is accepted is left out.
    var currentLists: [[UInt8]] {
        statusLists.compactMap { path in
            guard let file = FileHandle(forReadingAtPath: path) else { return nil }
            defer { try? file.close() }
            guard let data = try? file.read(upToCount: 4_194_304) else { return nil }
            let bytes = Array(data)
            return bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes
        }
    }
}

/// The site's side of asking for cards: what is open, the key that signs requests, and what members have proved.
actor SiteDesk {
    var desk: PresentationDesk
    var sessions = BrowserSessions()
    private let asking: SiteAsking
    private let key: P256.Signing.PrivateKey
    private let members: SiteDatabase
    /// For how long it counts that a member has proved something, in seconds.
    private static let validity: UInt64 = 30 * 86_400

    /// - Throws: ``SiteServerError/invalidCertificate``: the key is none of P-256, which is what requests are signed with.
    init(
        _ asking: SiteAsking, at host: VerifiedHost, members: SiteDatabase, certificates: [[UInt8]],
        privateKey: [UInt8]
    ) throws(SiteServerError) {
        self.asking = asking
        self.members = members
        do {
            key = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: privateKey, as: UTF8.self))
            let name = host.text.prefix { $0 != UInt8(ascii: ":") }
            let site = RequestingSite(
                host: JSONText(String(decoding: name, as: UTF8.self)),
                authority: JSONText(String(decoding: host.text, as: UTF8.self)),
                certificates: certificates)
            desk = PresentationDesk(of: site, asking: asking.question, trusting: asking.trust)
        } catch { throw .invalidCertificate }
    }

    /// The link for a member; nothing if they have proved before what is asked.
    func ask(_ account: [UInt8], random: [UInt8], at now: UInt64) async throws -> [UInt8] {
        if try await members.hasShown(asking.question.rawValue, account: account, at: now) { return [] }
        return try desk.ask(account, random: random, at: Int64(clamping: now))
    }

    func object(_ identifier: JSONText, walletNonce: JSONText?, at now: UInt64) throws(PresentationDeskFault) -> [UInt8]
    {
        try desk.object(identifier, walletNonce: walletNonce, signedBy: key, at: Int64(clamping: now))
    }

    func receive(
        _ text: [UInt8], for identifier: JSONText, at now: UInt64, record: SiteRecord?
    ) throws(PresentationDeskFault) -> ReceivedCard {
        let asker = desk.asker(of: identifier)
        do throws(PresentationDeskFault) {
            return try desk.receive(text, for: identifier, statusLists: asking.currentLists, at: Int64(clamping: now)) {
                record?.add(presentation: $0)
            }
        } catch {
            // A browser that waits for an answer to a request that is closed would wait in vain. A member who was asked has no session.
            if let asker, desk.asker(of: identifier) == nil, sessions.state(of: asker, at: now) != nil {
                sessions.set(.refused(error), for: asker, until: now + UInt64(PresentationDesk.lifetime))
            }
            throw error
        }
    }

    func finish(_ code: JSONText, by account: [UInt8], at now: UInt64) async throws {
        _ = try desk.finish(code, by: account, at: Int64(clamping: now))
        try await keep(shownBy: account, at: now)
    }

    /// Keeps that a member has proved what is asked.
    func keep(shownBy account: [UInt8], at now: UInt64) async throws {
        let (until, isTooLate) = now.addingReportingOverflow(Self.validity)
        try await members.keep(asking.question.rawValue, shownBy: account, until: isTooLate ? now : until)
    }

    /// What is asked.
    nonisolated var question: SiteQuestion { asking.question }
}
