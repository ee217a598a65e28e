// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
import Issuance
public import PinnedHTTP
import Presentation
import SignetClient
import StrictJSON

/// An issuer whose host its certificate proves, over connections that the connector's policy allows.
public struct IssuerConnection: Sendable {
    /// The issuer's host.
    public let host: VerifiedHost
    let name: IssuerName
    private let transport: NIOTransport

    /// A way to an issuer. Nothing is sent yet; the first request proves the host.
    ///
    /// - Parameters:
    ///   - address: ``CardOffer/authority(of:)``.
    ///   - connector: knows the host, and trusts and pins as the person decided.
    /// - Throws: ``SitesError/host(_:)``, ``SitesError/card(_:)``.
    public init(
        _ address: ServerAddress, through connector: PinnedConnector, deadlines: ConnectionDeadlines = .standard
    ) throws(SitesError) {
        transport = NIOTransport(to: address, through: connector, deadlines: deadlines)
        do throws(VerifiedHostError) {
            // Each answer comes over TLS to this name and port; without an answer the value is of no use.
            host = try VerifiedHost(
                Array(address.host.utf8), port: UInt16(clamping: address.port), evidence: .tlsConnection)
        } catch { throw .host(error) }
        do throws(IssuanceFault) {
            name = try IssuerName(JSONText("https://" + String(decoding: host.text, as: UTF8.self)))
        } catch { throw .card(.offer(error)) }
    }

    /// Reads a document.
    func document(at path: JSONText) async throws(SitesError) -> [UInt8] {
        let limit = ResponseLimit(maximumByteCount: 65_536, mediaType: "application/json")
        return try await send(TransportRequest(method: "GET", path: path.description, limit: limit))
    }

    /// Posts, and reads a document.
    ///
    /// - Parameter fields: of the header.
    func post(
        _ body: [UInt8], as mediaType: String, to path: JSONText, _ fields: [(name: String, value: [UInt8])] = [],
        maximumByteCount: Int = 65_536
    ) async throws(SitesError) -> [UInt8] {
        let fields = [("content-type", Array(mediaType.utf8))] + fields.map { ($0.name, $0.value) }
        return try await send(
            TransportRequest(
                method: "POST", path: path.description,
                fields: fields.map { .init(name: $0.0, value: String(decoding: $0.1, as: UTF8.self)) }, body: body,
                limit: ResponseLimit(maximumByteCount: maximumByteCount, mediaType: "application/json"),
                mayRepeat: false))
    }

    private func send(_ request: TransportRequest) async throws(SitesError) -> [UInt8] {
        let answer: TransportResponse
        do { answer = try await transport.send(request) } catch { throw .transport(error) }
        guard answer.status == 200 else { throw .card(.notMade(by: IssuerRefusal(answer))) }
        return answer.body
    }
}

/// Why an issuer makes no card, so far as a person is told.
public enum IssuerRefusal: String, Hashable, Sendable {
    /// The offer was used, has expired, was withdrawn or is locked, or the code that was entered is wrong.
    case grant = "invalid_grant"
    /// A code has to be entered, or none may be.
    case request = "invalid_request"
    /// The card was made for other keys, or was withdrawn.
    case denied = "credential_request_denied"
    /// What was sent came too late.
    case nonce = "invalid_nonce"
    /// The issuer cannot answer now.
    case unavailable
    /// Any other.
    case other

    init(_ answer: TransportResponse) {
        let word = (try? JSONObject(decoding: answer.body))?["error"]?.string?.description
        self = answer.status == 503 ? .unavailable : word.flatMap { IssuerRefusal(rawValue: $0) } ?? .other
    }
}
