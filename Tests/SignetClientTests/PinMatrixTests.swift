// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import PinScenarios
import PinnedChains
import SignetAPI
import Synchronization
import Testing

@testable import PinnedHTTP
@testable import SignetClient

/// The matrix over real TLS: 13 servers must be reached, and 17 must see no byte of a request.
@Suite struct PinMatrixTests {
    static let scenarios = (try? PinScenario.all(at: Date())) ?? []

    /// A connection to a scenario's server.
    struct Line {
        let connector: PinnedConnector
        let address: ServerAddress
        let server: ScenarioServer

        var transport: NIOTransport { NIOTransport(to: address, through: connector, deadlines: Self.patient) }

        static let patient = ConnectionDeadlines(
            connect: .seconds(120), handshake: .seconds(120), idle: .seconds(120), response: .seconds(120))
    }

    static func with<Value>(
        _ scenario: PinScenario, policy: PinPolicy? = nil, proxies: [String: String] = [:],
        subprotocol: ScenarioServer.Subprotocol = .firstOffered,
        onViolation: (@Sendable (ViolationReport) -> Void)? = nil, _ body: (Line) async throws -> Value
    ) async throws -> Value {
        let server = try await ScenarioServer(scenario, subprotocol: subprotocol)
        let verifier = ChainVerifier(
            policy: try policy ?? scenario.policy(), anchors: try TrustAnchors(scenario.anchors))
        let connector = try PinnedConnector(
            verifier, environment: .staging, proxies: ProxySettings(environment: proxies), onViolation: onViolation)
        let address = try ServerAddress("https://\(PinScenario.host):\(server.port)")
        let value = try await body(Line(connector: connector, address: address, server: server))
        await server.stop()
        return value
    }

    static let request = TransportRequest(
        method: "GET", path: "/secret", fields: [.init(name: "authorization", value: "Bearer token")],
        limit: ResponseLimit(maximumByteCount: 100, mediaType: nil))

    /// The error of a request; nil for an answer.
    static func refusal(_ line: Line) async throws -> TransportError? {
        do throws(TransportError) {
            let response = try await line.transport.send(request)
            #expect(response.body == Array("genuine\n".utf8))
            return nil
        } catch { return error }
    }

    static func socketRefusal(_ line: Line) async throws -> TransportError? {
        do throws(TransportError) {
            let socket = try await PinnedWebSocket.open(
                line.address, path: "/signal", offering: [.stomp, .janus],
                fields: [.init(name: "authorization", value: "Bearer token")], through: line.connector,
                deadlines: Line.patient)
            try await socket.send(.text(Array("hello".utf8)))
            #expect(try await socket.receive() == .text(Array("hello".utf8)))
            await socket.close()
            return nil
        } catch { return error }
    }

    private func check(_ error: TransportError?, _ scenario: PinScenario, _ server: ScenarioServer) {
        if scenario.mustPass {
            #expect(error == nil)
            #expect(server.sightings.map(\.authorization) == ["Bearer token"])
        } else {
            guard case .refused = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(server.sightings.isEmpty)
            #expect(server.plaintextByteCount == 0)
        }
    }

    @Test(arguments: scenarios) func aRequestReachesOnlyAPinnedServer(_ scenario: PinScenario) async throws {
        try await Self.with(scenario) { line in
            check(try await Self.refusal(line), scenario, line.server)
        }
    }

    @Test(arguments: scenarios) func aWebSocketReachesOnlyAPinnedServer(_ scenario: PinScenario) async throws {
        try await Self.with(scenario) { line in
            check(try await Self.socketRefusal(line), scenario, line.server)
        }
    }

    /// The second verdict, from the cache, is the same as the first.
    @Test(arguments: scenarios) func theCacheGivesTheSameVerdict(_ scenario: PinScenario) async throws {
        try await Self.with(scenario) { line in
            let first = try await Self.socketRefusal(line)
            let second = try await Self.socketRefusal(line)
            #expect(first == second)
            if !scenario.mustPass { #expect(line.server.plaintextByteCount == 0) }
            let key = VerifiedChainCache.key(
                scenario.presented, host: .dns(Array(PinScenario.host.utf8)), policyVersion: 1)
            let now = Surroundings.system.now()
            let fresh = try? await line.connector.verifier.verify(
                scenario.presented, for: .dns(Array(PinScenario.host.utf8)), at: now)
            #expect(line.connector.cache?.verdict(key, at: now) == fresh)
            #expect((fresh == nil) == !scenario.mustPass)
        }
    }

    @Test func withoutPinsAnInterceptorReadsTheRequest() async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == "22" })
        try await Self.with(scenario, policy: scenario.policy(mode: .trustOnly)) { line in
            let error = try await Self.refusal(line)
            #expect(error == nil)
            #expect(line.server.sightings.first?.authorization == "Bearer token")
        }
    }

    @Test func manyRequestsShareOneHTTP2Connection() async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == "01" })
        try await Self.with(scenario) { line in
            let transport = line.transport
            _ = try await transport.send(Self.request)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await transport.send(Self.request).status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(line.server.connectionCount == 1)
            #expect(line.server.sightings.count == 21)
        }
    }

    @Test(.timeLimit(.minutes(2))) func aConnectionThatTheServerGivesUpIsClosedAndReplaced() async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == "01" })
        try await Self.with(scenario) { line in
            let transport = line.transport
            let first = try await transport.send(Self.request)
            #expect(first.status == 200)
            try await line.server.goAway()
            for await _ in line.server.endings { break }
            let second = try await transport.send(Self.request)
            #expect(second.status == 200)
            #expect(line.server.connectionCount == 2)
        }
    }

    /// Each request that must not be sent twice has a connection of its own; those over one are closed.
    @Test(.timeLimit(.minutes(2))) func connectionsThatAreNotKeptAreClosed() async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == "01" })
        try await Self.with(scenario) { line in
            let transport = line.transport
            for _ in 0..<6 {
                let request = TransportRequest(
                    method: "POST", path: "/secret", limit: ResponseLimit(maximumByteCount: 100, mediaType: nil))
                let answer = try await transport.send(request)
                #expect(answer.status == 200)
            }
            var endingCount = 0
            for await _ in line.server.endings {
                endingCount += 1
                if endingCount == 5 { break }
            }
            let last = try await transport.send(Self.request)
            #expect(last.status == 200)
            #expect(line.server.connectionCount == 6)
        }
    }

    // MARK: Reports

    @Test func aRefusalIsReported() async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == "21" })
        let reports = Reports()
        try await Self.with(scenario, onViolation: reports.add) { line in
            _ = try await Self.refusal(line)
        }
        let report = try #require(reports.all.first)
        #expect(report.wasRefused)
        #expect(report.servedChain == scenario.presented)
        #expect(report.validatedChain.first == scenario.presented[0])
        #expect(scenario.anchors.contains(try #require(report.validatedChain.last)))
        #expect(report.knownPins == scenario.pins.map(\.key))
    }

    @Test func aReportOnlyRuleAllowsTheConnection() async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == "06" })
        let reports = Reports()
        try await Self.with(scenario, policy: scenario.policy(mode: .reportOnly), onViolation: reports.add) { line in
            for _ in 0..<2 {
                let error = try await Self.socketRefusal(line)
                #expect(error == nil)
            }
        }
        #expect(reports.all.map(\.wasRefused) == [false, false])
    }

    @Test func anUntrustedChainIsRefusedInEveryMode() async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == "25" })
        for mode in [PinMode.reportOnly, .trustOnly] {
            try await Self.with(scenario, policy: scenario.policy(mode: mode)) { line in
                guard case .refused(let refusal) = try await Self.refusal(line) else { throw Unexpected() }
                #expect(refusal.reason == .untrusted)
                #expect(line.server.plaintextByteCount == 0)
            }
        }
    }

    struct Unexpected: Error {}

    // MARK: Before the greeting

    @Test func aProxyIsRecordedOrRefused() async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == "01" })
        let variables = ["https_proxy": "http://proxy.test:3128"]
        try await Self.with(scenario, proxies: variables) { line in
            let error = try await Self.refusal(line)
            #expect(error == nil)
        }
        let rule = try #require(try scenario.policy().rules.first)
        let strict = try PinPolicy(version: 1, environment: .staging, proxies: .refuse, rules: [rule])
        try await Self.with(scenario, policy: strict, proxies: variables) { line in
            guard case .refused(let refusal) = try await Self.refusal(line) else { throw Unexpected() }
            #expect(refusal.reason == .proxy(.configured(setting: Array("https_proxy".utf8))))
        }
    }

    @Test(
        arguments: [
            ([:], ProxyState.none), (["https_proxy": ""], .none),
            (["ALL_PROXY": "socks5://x"], .configured(setting: Array("ALL_PROXY".utf8))),
            (["https_proxy": "x", "no_proxy": "other.test, example.org"], .none),
            (["https_proxy": "x", "no_proxy": ".example.org"], .none), (["https_proxy": "x", "NO_PROXY": "*"], .none),
            (["https_proxy": "x", "no_proxy": "ample.org"], .configured(setting: Array("https_proxy".utf8))),
            (["https_proxy": "x", "no_proxy": ","], .configured(setting: Array("https_proxy".utf8))),
        ] as [([String: String], ProxyState)])
    func proxiesAreReadAsCurlReadsThem(variables: [String: String], state: ProxyState) {
        let host = ServerName.dns(Array("api.example.org".utf8))
        #expect(ProxySettings(environment: variables).state(for: host) == state)
    }

    @Test(
        arguments: [
            (["HTTPSEnable"], ProxyState.configured(setting: Array("HTTPSEnable".utf8))),
            (["SOCKSEnable"], .configured(setting: Array("SOCKSEnable".utf8))),
            (["ProxyAutoConfigEnable"], .configured(setting: Array("ProxyAutoConfigEnable".utf8))),
            (["ProxyAutoDiscoveryEnable"], .configured(setting: Array("ProxyAutoDiscoveryEnable".utf8))),
            (["HTTPEnable", "FTPEnable", "ExcludeSimpleHostnames"], .none),
        ] as [([String], ProxyState)])
    func aProxyOfTheSystemSettingsIsRecognized(enabled: [String], state: ProxyState) {
        let host = ServerName.dns(Array("api.example.org".utf8))
        #expect(ProxySettings(environment: ["no_proxy": "*"], enabled: Set(enabled)).state(for: host) == state)
    }

    @Test func aHostWithoutARuleIsRefused() async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == "01" })
        try await Self.with(scenario) { line in
            let other = try ServerAddress("https://127.0.0.1:\(line.server.port)")
            let elsewhere = Line(connector: line.connector, address: other, server: line.server)
            guard case .refused(let refusal) = try await Self.refusal(elsewhere) else { throw Unexpected() }
            #expect(refusal.reason == .unknownHost)
        }
    }

    @Test func aPolicyForAnotherEnvironmentIsRefused() throws {
        let scenario = try #require(Self.scenarios.first)
        let verifier = ChainVerifier(policy: try scenario.policy(), anchors: try TrustAnchors(scenario.anchors))
        #expect(throws: TransportError.policyForAnotherEnvironment) { try PinnedConnector(verifier) }
    }
}

final class Reports: Sendable {
    private let kept = Mutex<[ViolationReport]>([])

    var all: [ViolationReport] { kept.withLock { $0 } }
    func add(_ report: ViolationReport) { kept.withLock { $0.append(report) } }
}
