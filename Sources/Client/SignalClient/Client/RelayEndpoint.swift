// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
public import PinnedHTTP
public import STOMP
public import SignetAPI
public import SignetClient
import TransparencyLog

/// Where signals go through, and as whom.
public struct RelayEndpoint: Sendable {
    /// What is spoken there.
    public let engine: RelayEngine
    let address: ServerAddress
    private let connector: PinnedConnector
    private let deadlines: ConnectionDeadlines
    private let sign: @Sendable () throws(RelayClientError) -> [TransportRequest.Field]

    /// The directory of a profile, which carries signals as well.
    ///
    /// - Parameter device: the secrets of the device that connects.
    /// - Throws: `TransportError`: the profile's address or pins cannot be right.
    public init(
        of profile: DirectoryProfile, as device: DeviceSecrets, in surroundings: Surroundings = .system,
        deadlines: ConnectionDeadlines = .standard
    ) throws(TransportError) {
        guard let origin = profile.trust.policy.logs.first?.name.bytes else { throw .invalidAddress }
        engine = .signet
        address = try ServerAddress(profile.url)
        connector = try profile.connector(in: surroundings)
        self.deadlines = deadlines
        let content = RequestSignature.Content(method: "GET", path: engine.path, origin: origin, body: [])
        sign = { () throws(RelayClientError) in try Self.sign(content, as: device, in: surroundings) }
    }

    /// Another engine, which asks for no signature.
    public init(
        _ engine: RelayEngine, at address: ServerAddress, through connector: PinnedConnector,
        deadlines: ConnectionDeadlines = .standard
    ) {
        self.engine = engine
        self.address = address
        self.connector = connector
        self.deadlines = deadlines
        sign = { () throws(RelayClientError) in [] }
    }

    private static func sign(
        _ content: RequestSignature.Content, as device: DeviceSecrets, in surroundings: Surroundings
    ) throws(RelayClientError) -> [TransportRequest.Field] {
        let signature: RequestSignature
        do throws(KeystoreError) {
            signature = try RequestSignature(
                content, deviceKey: device.keys.signing, time: surroundings.now(),
                nonce: surroundings.randomBytes(16), sign: device.sign)
        } catch { throw .keystore(error) }
        let value = String(decoding: signature.headerValue, as: UTF8.self)
        return [.init(name: RequestSignature.headerName, value: value)]
    }

    /// Opens the WebSocket, without a word of STOMP.
    public func link() async throws(RelayClientError) -> PinnedWebSocket {
        let fields = try sign()
        let opening: PinnedWebSocket.Opening
        do {
            opening = try await PinnedWebSocket.request(
                address, path: engine.path, offering: [.stomp], fields: fields, through: connector,
                deadlines: deadlines)
        } catch { throw .connection(.transport(error)) }
        switch opening {
        case .opened(let link): return link
        case .refused(let response): throw RelayClientError(refusal: response)
        }
    }

    /// Connects.
    ///
    /// - Parameter heartBeat: what this side promises and wants, in milliseconds.
    /// - Throws: ``RelayClientError``.
    public func connect(heartBeat: HeartBeat) async throws(RelayClientError) -> StompConnection {
        let link = try await link()
        do {
            return try await StompConnection.open(
                over: link, headers: engine.connectHeaders(host: address.host), heartBeat: heartBeat)
        } catch { throw .connection(error) }
    }
}
