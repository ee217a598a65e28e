// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import Foundation
import HTTPTypes
import KeyDirectory
import SignalBroker
import SignetAPI

/// Admits devices to the signals of calls: a WebSocket for each device that signs the request for it.
///
/// Security: no browser can open one: a page cannot add the signature to the request.
///
/// Spec: RFC 6455, section 4.2.
struct SignalCarrier: Sendable {
    let exchange: any SignalExchange
    let metrics: ServerMetrics

    /// The result of a request for a WebSocket.
    enum Outcome {
        case refused(Answer)
        case granted(SignalUpgrade)
    }

    /// Judges a request.
    func upgrade(_ request: ReceivedRequest, _ headers: HTTPFields, _ answering: RequestAnswering) async -> Outcome {
        guard Self.isVersion13(headers) else { return .refused(Self.upgradeRequired) }
        guard let proof = Self.proof(headers), Self.offersStomp(headers), request.body.isEmpty else {
            return .refused(Self.last(.refusal(.badRequest)))
        }
        do throws(Refusal) {
            let caller = try await answering.caller(of: request)
            guard let device = CallDevice(caller.deviceKey) else {
                return .refused(Self.last(.refusal(.notYourAccount)))
            }
            return .granted(SignalUpgrade(exchange: exchange, device: device, account: caller.accountID, proof: proof))
        } catch {
            if let limit = error.limit { metrics.refused(limit) }
            return .refused(Self.last(error.answer))
        }
    }

    private static func isVersion13(_ headers: HTTPFields) -> Bool {
        tokens(headers, .upgrade).contains("websocket") && tokens(headers, .connection).contains("upgrade")
            && headers[values: .secWebSocketVersion] == ["13"]
    }

    private static func offersStomp(_ headers: HTTPFields) -> Bool {
        tokens(headers, .secWebSocketProtocol).contains(RelayAddress.subprotocol)
    }

    /// The answer to the client's key; nil if that is none.
    private static func proof(_ headers: HTTPFields) -> String? {
        let keys = headers[values: .secWebSocketKey]
        guard keys.count == 1, let key = keys.first, Data(base64Encoded: key)?.count == 16 else { return nil }
        let text = Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        return Data(Insecure.SHA1.hash(data: text)).base64EncodedString()
    }

    private static func tokens(_ headers: HTTPFields, _ name: HTTPField.Name) -> Set<String> {
        let all = headers[values: name].flatMap { $0.split(separator: ",") }
        return Set(all.map { $0.trimmingCharacters(in: .whitespaces).lowercased() })
    }

    private static var upgradeRequired: Answer {
        var answer = last(.refusal(.badRequest))
        answer.status = .upgradeRequired
        answer.headers += [(.upgrade, "websocket"), (.secWebSocketVersion, "13")]
        return answer
    }

    /// After a request to upgrade the decoder reads nothing more, so the connection ends.
    private static func last(_ answer: Answer) -> Answer {
        var answer = answer
        answer.isLast = true
        return answer
    }
}
