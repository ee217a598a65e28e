// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import SignetAPI
import SignetServer
import Testing

/// A part that answers with the body of the request and the caller's handle.
private struct Echo: PartAnswering {
    enum Echoes: PartRoute {
        case toAnyone, toOwners

        var path: String { self == .toAnyone ? "/v1/echo/open" : "/v1/echo/signed" }
        var access: PartAccess { self == .toAnyone ? .open : .signed }
        var cost: UInt64 { 40 }
        var maximumRequestByteCount: Int { self == .toAnyone ? 4 : 100_000 }
        var maximumAnswerByteCount: Int { 200_000 }
    }

    var routes: [any PartRoute] { Echoes.allCases }

    func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        if request.body == Array("no".utf8) { throw PartRefusal(.versionConflict) }
        return request.body + (request.caller?.handle.bytes ?? [])
    }

    func close() async {}
}

@Suite struct PartTests {
    @Test func anOpenRouteAnswersWithoutASignatureAndNamesNoCaller() async throws {
        try await withServer(and: [Echo()]) { client, _ in
            let answer = try await client.call(Echo.Echoes.toAnyone, Array("hey".utf8))
            #expect(answer?.status == 200)
            #expect(answer?.body == Array("hey".utf8))
            #expect(answer?.headers["content-type"] == Route.nativeMediaType)
        }
    }

    @Test func aSignedRouteNeedsADeviceOfAnAccountAndNamesTheAccount() async throws {
        try await withServer(and: [Echo()]) { client, _ in
            let (member, stranger) = (try TestPerson("alice@example.org"), try TestPerson("mallory@example.org"))
            #expect(try await member.register(client)?.status == 200)
            let body = [UInt8](repeating: 65, count: 70_000)
            #expect(try await member.call(Echo.Echoes.toOwners, body, client)?.body == body + member.handle.bytes)
            #expect(try await client.call(Echo.Echoes.toOwners, body)?.status == 401)
            #expect(try await stranger.call(Echo.Echoes.toOwners, body, client)?.status == 403)
        }
    }

    @Test func aBodyLongerThanItsRouteAllowsIsRefused() async throws {
        try await withServer(and: [Echo()]) { client, _ in
            let (whole, tooLong) = try await (
                client.call(Echo.Echoes.toAnyone, Array("four".utf8)),
                client.call(Echo.Echoes.toAnyone, Array("fives".utf8))
            )
            #expect(whole?.status == 200)
            #expect(tooLong?.status == 413)
        }
    }

    @Test func aRefusalOfThePartIsAnsweredWithItsStatus() async throws {
        try await withServer(and: [Echo()]) { client, _ in
            let answer = try await client.call(Echo.Echoes.toAnyone, Array("no".utf8))
            #expect(answer?.status == 409)
        }
    }

    @Test func aRequestCostsItsAddressWhatTheRouteStates() async throws {
        try await withServer(and: [Echo()]) {
            $0.limits.addressRate = RequestRate(perSecond: 1, burst: 40)
        } _: { client, _ in
            let (first, second) = try await (
                client.call(Echo.Echoes.toAnyone), client.call(Echo.Echoes.toAnyone)
            )
            #expect(first?.status == 200)
            #expect(second?.status == 429)
        }
    }

    @Test func aMethodOtherThanPOSTIsNotAllowed() async throws {
        try await withServer(and: [Echo()]) { client, _ in
            let answer = try await client.get(Echo.Echoes.toAnyone.path)
            #expect(answer?.status == 405)
            #expect(answer?.headers["allow"] == "POST")
        }
    }
}
