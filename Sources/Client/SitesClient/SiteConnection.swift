// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
public import PinnedHTTP
public import RelyingParty
public import SignetClient

/// A site whose host was proven by its certificate, and a challenge of its own to sign.
///
/// Security: the only way to one is ``open(_:through:deadlines:)``, which has had an answer over a connection that the
/// connector's policy allowed. A host that was merely named never reaches a key.
public struct SiteConnection: Sendable {
    /// The site.
    public let host: VerifiedHost
    /// 32 bytes, good for one statement.
    public let challenge: [UInt8]
    let transport: NIOTransport

    /// Connects, and asks for a challenge.
    ///
    /// - Parameter connector: knows the host, and trusts and pins as the person decided.
    /// - Throws: ``SitesError/host(_:)``, ``SitesError/transport(_:)``, ``SitesError/noSite(status:)``,
    ///   ``SitesError/malformedAnswer``.
    public static func open(
        _ address: ServerAddress, through connector: PinnedConnector,
        deadlines: ConnectionDeadlines = .standard
    ) async throws(SitesError) -> SiteConnection {
        let transport = NIOTransport(to: address, through: connector, deadlines: deadlines)
        let challenge = try await post(.challenge, [], over: transport)
        guard challenge.count == 32 else { throw .malformedAnswer }
        // The answer came over TLS to this name and port, so this is where it was proven.
        do throws(VerifiedHostError) {
            let host = try VerifiedHost(
                Array(address.host.utf8), port: UInt16(clamping: address.port), evidence: .tlsConnection)
            return SiteConnection(host: host, challenge: challenge, transport: transport)
        } catch { throw .host(error) }
    }

    /// The same site, over the same connection, with another challenge of its own.
    func asking(_ challenge: [UInt8]) -> SiteConnection {
        SiteConnection(host: host, challenge: challenge, transport: transport)
    }

    /// Sends a statement that answers the challenge.
    func send(_ route: SiteRoute, _ body: [UInt8]) async throws(SitesError) -> SiteAnswer {
        let bytes = try await Self.post(route, body, over: transport)
        do { return try SiteAnswer(decoding: bytes) } catch { throw .malformedAnswer }
    }

    private static func post(
        _ route: SiteRoute, _ body: [UInt8], over transport: NIOTransport
    ) async throws(SitesError) -> [UInt8] {
        let request = TransportRequest(
            method: "POST", path: route.path, fields: [.init(name: "content-type", value: SiteRoute.mediaType)],
            body: body,
            limit: ResponseLimit(maximumByteCount: route.maximumAnswerByteCount, mediaType: SiteRoute.mediaType))
        let response: TransportResponse
        do { response = try await transport.send(request) } catch { throw .transport(error) }
        guard response.status == 200 else { throw .noSite(status: response.status) }
        return response.body
    }
}

/// Why nothing was done at a site.
public enum SitesError: Error, Hashable, Sendable {
    /// The address is none that a site can have.
    case host(VerifiedHostError)
    /// There is no connection, or none that policy, chain and pins allow.
    case transport(TransportError)
    /// The server answers, and not as a site does.
    case noSite(status: Int)
    /// The answer has not the form of one.
    case malformedAnswer
    /// The site said this, and nothing changed here.
    case refused(SiteAnswer)
    /// What the person is, or is not, at this site.
    case identity(SiteIdentityError)
    /// After a recovery the site has to get its new keys first.
    case needsNewKeys
    /// No recovery brought anything back for this site.
    case noRecoveryKey
    /// The keystore did not give what it should.
    case keystore(PrivateKeyStoreError)
    /// The list of sites or cards cannot be read or written.
    case list(FileFault)
    /// The list of sites or cards was changed, or its key is gone.
    case listDamaged
    /// A card was not kept, or not shown.
    case card(CardFault)
    /// Our own statement does not hold: a bug.
    case statement(SiteStatementError)

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .host, .identity, .needsNewKeys, .noRecoveryKey, .listDamaged: .caller
        case .transport(let error): error.family
        case .refused(.busy), .refused(.staleChallenge): .environment
        case .noSite, .malformedAnswer, .refused: .peer
        case .keystore(let error): error.family
        case .list(let fault): fault.family
        case .card(let fault): fault.family
        case .statement: .bug
        }
    }
}

extension PrivateKeyStoreError {
    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .busy, .unavailable, .lockedOut: .environment
        case .unsupported, .invalidInput: .bug
        default: .caller
        }
    }
}
