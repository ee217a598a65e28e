// SPDX-License-Identifier: Apache-2.0

import Crypto
public import DeviceIdentity
public import Logging
import Platform
import RelyingParty

/// A relying party as an example: HTTPS, members in SQLite, nothing else. One value serves once.
///
/// A client that opens connections and sends nothing on them, or sends it slowly, does not keep another address from
/// signing in: connections are counted in total and for each address, new ones from an address have a rate, and each
/// wait has an end.
public struct HTTPSSite: Sendable {
    private let exchange: SiteExchange
    private let members: SiteDatabase
    private var listener: HTTPSListener
    /// What clients may take; tests have other limits.
    package var limits: SiteLimits {
        get { listener.limits }
        set { listener.limits = newValue }
    }

    /// A site.
    ///
    /// - Parameters:
    ///   - host: its own name.
    ///   - recoveryDelay: in seconds.
    ///   - certificateChain: PEM, the site's own first.
    ///   - privateKey: PEM.
    ///   - asking: what it asks members to prove with a card; nil for nothing.
    ///   - record: where to write down what requests say; nil for nowhere.
    /// - Throws: ``SiteServerError/invalidCertificate``.
    public init(
        at host: VerifiedHost, members: SiteDatabase, recoveryDelay: UInt64, certificateChain: [UInt8],
        privateKey: [UInt8], asking: SiteAsking? = nil, record: SiteRecord? = nil
    ) throws(SiteServerError) {
        let listener = try HTTPSListener(certificateChain: certificateChain, privateKey: privateKey)
        self.listener = listener
        self.members = members
        // A memory that cannot be taken makes older challenges stale, and nothing worse.
        let memory = (try? members.takeChallenges()) ?? nil
        let site = Site(
            at: host, members: members, challengeKey: SymmetricKey(size: .bits256), remembering: memory,
            recoveryDelay: recoveryDelay)
        let desk = try asking.map { asking throws(SiteServerError) in
            try SiteDesk(
                asking, at: host, members: members, certificates: listener.certificates, privateKey: privateKey)
        }
        exchange = SiteExchange(site: site, clock: { UInt64(max(0, time(nil))) }, record: record, desk: desk)
    }

    /// Serves until SIGTERM or SIGINT.
    ///
    /// - Parameter onListening: gets the port once connections are accepted.
    /// - Throws: ``SiteServerError/cannotListen``, or what else ended the server.
    public func run(
        host: String, port: Int, logger: Logger, onListening: @escaping @Sendable (Int) -> Void
    ) async throws {
        try await listener.run(
            host: host, port: port, logger: logger, answer: exchange.answer, onListening: onListening)
        try await members.keep(challenges: exchange.site.challengeMemory(at: exchange.clock()))
    }
}

/// Why a site does not serve.
public enum SiteServerError: Error, Hashable, Sendable {
    /// Key and certificates do not make a TLS server.
    case invalidCertificate
    /// No issuer of cards is named, or one cannot be read.
    case invalidIssuers
    /// The address is in use, or is not one of this machine.
    case cannotListen
}
