// SPDX-License-Identifier: Apache-2.0

import Crypto
public import DeviceIdentity
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Platform
import RelyingParty
import ServiceLifecycle
import UnixSignals

/// A relying party as an example: HTTPS, members in SQLite, nothing else. One value serves once.
///
/// A client that opens connections and sends nothing on them, or sends it slowly, does not keep another address from
/// signing in: connections are counted in total and for each address, new ones from an address have a rate, and each
/// wait has an end.
public struct HTTPSSite: Sendable {
    private let exchange: SiteExchange
    private let members: SiteDatabase
    private let tls: NIOSSLContext
    /// What clients may take; tests have other limits.
    package var limits = SiteLimits()

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
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(certificateChain)
            let key = try NIOSSLPrivateKey(bytes: privateKey, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            tls = try NIOSSLContext(configuration: configuration)
        } catch { throw .invalidCertificate }
        self.members = members
        // A memory that cannot be taken makes older challenges stale, and nothing worse.
        let memory = (try? members.takeChallenges()) ?? nil
        let site = Site(
            at: host, members: members, challengeKey: SymmetricKey(size: .bits256), remembering: memory,
            recoveryDelay: recoveryDelay)
        let desk = try asking.map { asking throws(SiteServerError) in
            try SiteDesk(asking, at: host, members: members, certificates: chain, privateKey: privateKey)
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
        let server = Server(
            childChannelSetup: SiteChannel(tls: tls, limits: limits, responder: exchange.run),
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { onListening($0.localAddress?.port ?? 0) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        var group = ServiceGroupConfiguration(
            services: [.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(5)
        do { try await ServiceGroup(configuration: group).run() } catch is IOError {
            throw SiteServerError.cannotListen
        }
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
