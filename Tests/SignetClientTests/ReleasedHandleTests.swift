// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import Testing
import TransparencyLog
import VRF

@testable import KeyDirectory

/// The client of a person who gets a handle that was somebody else's.
@Suite struct ReleasedHandleTests {
    private static let name = "ceo@example.org"

    private static func invitation() throws -> Invitation {
        try #require(Invitation(code: [UInt8](repeating: 7, count: 16)))
    }

    private static func secrets() throws -> DeviceSecrets {
        try DeviceSecrets.generate(for: Handle(typed: Array(name.utf8)), withIdentity: true)
    }

    @Test func theHolderOfTheInvitationGetsTheHandle_andTheirMonitorIsSilent() async throws {
        try await TestDirectory.run { test in
            let former = try await test.person(Self.name)
            let secrets = try Self.secrets()
            _ = try await test.directory.release(secrets.handle, to: Self.invitation())
            let client = try test.client(secrets)
            let verdict = try await client.createAccount(secrets, with: .invitation(Self.invitation()))
            #expect(verdict.version == 2)
            #expect(verdict.keys?.identityKey == secrets.identityKey)
            let own = try await client.checkOwnAccount()
            #expect(own.alarms.isEmpty, "\(own.alarms)")
            let theirs = try await former.client.checkOwnAccount()
            #expect(theirs.alarms.contains(.reset(version: 2)), "\(theirs.alarms)")
        }
    }

    @Test func anAnswerThatIsLostIsAskedForAgain() async throws {
        try await TestDirectory.run { test in
            _ = try await test.person(Self.name)
            let secrets = try Self.secrets()
            _ = try await test.directory.release(secrets.handle, to: Self.invitation())
            let transport = ScriptedTransport(try NIOTransport(to: test.profile)) { request, number in
                request.path == Route.register.path && number == 1 ? .loseAnswer(.closedEarly) : .pass
            }
            let client = try test.client(secrets, over: transport)
            await #expect(throws: ClientError.transport(.closedEarly)) {
                try await client.createAccount(secrets, with: .invitation(Self.invitation()))
            }
            #expect(try await client.createAccount(secrets).version == 2)
        }
    }

    /// The attack: the directory gives the handle to another person, and the log does not call the step what it is.
    @Test func aTakeoverThatTheLogDoesNotCallAResetIsRefused() async throws {
        try await TestDirectory.run { test in
            _ = try await test.person(Self.name)
            let secrets = try Self.secrets()
            _ = try await test.directory.release(secrets.handle, to: Self.invitation())
            let transport = ConcealingTransport(inner: try NIOTransport(to: test.profile), directory: test.directory)
            let client = try test.client(secrets, over: transport)
            await #expect(throws: ClientError.notWhatWasSent) {
                try await client.createAccount(secrets, with: .invitation(Self.invitation()))
            }
        }
    }

    /// Logs a takeover as if the holder had made the step.
    private struct ConcealingTransport: HTTPTransport {
        let inner: any HTTPTransport
        let directory: Directory

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            guard request.path == Route.register.path else { return try await inner.send(request) }
            do {
                let receipt = try await conceal(StateSubmission(decoding: request.body), request)
                return TransportResponse(status: 200, mediaType: Route.nativeMediaType, body: receipt.encoded)
            } catch { throw .malformedResponse }
        }

        private func conceal(_ submission: StateSubmission, _ request: TransportRequest) async throws -> StateReceipt {
            let header = try #require(request.fields.first { $0.name == RequestSignature.headerName })
            let statement = Statement(
                submission: submission, signature: try RequestSignature(headerValue: Array(header.value.utf8)),
                time: directory.clock())
            let handle = submission.state.handle
            let former = try #require(try await directory.database.read { try AccountRow.find(handle, in: $0) })
            let row = StateRow(statement, label: former.label, kind: .set)
            _ = try await directory.database.replaceAccount(
                former, with: statement, row, admitting: .anyone(holding: ReleasedHandleTests.invitation()))
            directory.cache.forget(handle)
            let entries = LogEntries(
                label: former.label, state: submission.state, kind: .set, opening: submission.opening,
                isLogged: { _ in false })
            return try await directory.publish(entries.entries)
        }
    }
}
