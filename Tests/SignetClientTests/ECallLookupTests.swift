// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import Synchronization
import Testing
import TransparencyLog

/// The eCall client's own question, over the pinned connection, and each row of the guide's threat table as an answer to it.
@Suite struct ECallLookupTests {
    /// Asks for bob's keys and expects a failure, or his key, from an answer that a hostile server changed; nil changes nothing.
    private func expect(
        _ failure: ClientError?, _ change: (@Sendable ([[String: String]]) -> Any)? = nil, logKey: [UInt8]? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await TestDirectory.run { directory in
            let bob = try await directory.person("bob@example.org")
            let transport = ChangedAnswer(try NIOTransport(to: directory.profile), change)
            let client = try directory.client(nil, over: transport)
            do throws(ClientError) {
                let keys = try await client.eCallKeys(of: bob.secrets.handle, logKey: logKey)
                #expect(keys.map(\.publicKey) == [bob.secrets.keys.signing], sourceLocation: location)
                #expect(keys.map(\.unproven.count) == [5] && failure == nil, sourceLocation: location)
            } catch { #expect(error == failure, sourceLocation: location) }
            let question = #"POST /api/get-public-keys {"targets":["bob@example.org"]}"#
            let isAsked = failure != .misuse(.notALogKey)
            #expect(transport.asked == (isAsked ? [question] : []), sourceLocation: location)
        }
    }

    @Test func theRequestIsTheGuides_andTheAnswerListsWhatItDoesNotProve() async throws { try await expect(nil) }

    @Test func changedAnswersAreRefusedWithTheGuidesErrorNames() async throws {
        let changes: [(ECallError, @Sendable ([[String: String]]) -> Any)] = [
            (.invalidInclusionProof, { Self.changing($0, "publicKey", to: Self.sixes(32)) }),
            (.invalidInclusionProof, { Self.changing($0, "vrfHash", to: Self.sixes(64)) }),
            (
                .signatureVerificationFailed,
                { list in
                    let lines = (list.first?["proof"] ?? "").split(separator: "\n", omittingEmptySubsequences: false)
                    let blank = lines.firstIndex(of: "") ?? 0
                    let edited = lines.enumerated().map { $0 == blank + 2 ? "99" : String($1) }
                    return Self.changing(list, "proof", to: edited.joined(separator: "\n"))
                }
            ),
            (.invalidNoteFormat, { Self.changing($0, "proof", to: "garbage") }),
            (.invalidBase64, { Self.changing($0, "publicKey", to: "****") }),
        ]
        for (error, change) in changes { try await expect(.eCall(error), change) }
    }

    @Test func aProviderWhoseKeyIsNotThePinnedOneIsRefused() async throws {
        let other = [UInt8](repeating: 0x58, count: 1) + [UInt8](repeating: 0x66, count: 31)
        try await expect(.eCall(.signatureVerificationFailed), logKey: other)
        try await expect(.misuse(.notALogKey), logKey: [1, 2])
    }

    @Test func answersWithoutADevice_withTooMany_orThatAreNoListAreRefused() async throws {
        let bob = try Handle(typed: Array("bob@example.org".utf8))
        try await expect(.withheld(bob), { _ in [String]() })
        try await expect(
            .malformedAnswer(.eCallKeys), { list in [[String: String]](repeating: list.first ?? [:], count: 25) })
        try await expect(.malformedAnswer(.eCallKeys), { _ in ["keys": "none"] })
    }

    private static func sixes(_ count: Int) -> String {
        String(decoding: Base64.encode([UInt8](repeating: 6, count: count)), as: UTF8.self)
    }

    private static func changing(_ list: [[String: String]], _ member: String, to value: String) -> [[String: String]] {
        list.map { $0.merging([member: value]) { $1 } }
    }
}

/// Another answer to the eCall route.
private final class ChangedAnswer: HTTPTransport {
    private let inner: any HTTPTransport
    private let change: (@Sendable ([[String: String]]) -> Any)?
    private let requests = Mutex<[String]>([])

    init(_ inner: any HTTPTransport, _ change: (@Sendable ([[String: String]]) -> Any)?) {
        (self.inner, self.change) = (inner, change)
    }

    var asked: [String] { requests.withLock { $0 } }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        requests.withLock {
            $0.append("\(request.method) \(request.path) \(String(decoding: request.body, as: UTF8.self))")
        }
        let response = try await inner.send(request)
        let object = try? JSONSerialization.jsonObject(with: Data(response.body))
        guard let change, let list = object as? [[String: String]],
            let body = try? JSONSerialization.data(withJSONObject: change(list))
        else { return response }
        return TransportResponse(status: response.status, mediaType: response.mediaType, body: Array(body))
    }
}
