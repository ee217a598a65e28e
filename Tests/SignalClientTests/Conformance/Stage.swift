// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Foundation
import PinnedHTTP
import STOMP
import SignalClient
import SignetAPI
import SignetClient
import Synchronization
import Testing

/// The engines of the conformance suite: always the broker of `signetd`; RabbitMQ too when `Scripts/stomp-conformance`
/// has started one.
enum TestEngine: String, CaseIterable, Sendable {
    case signet
    case rabbitMQ

    static let rabbitProfile = ProcessInfo.processInfo.environment["SIGNET_RABBITMQ_PROFILE"]
    static let present: [TestEngine] = rabbitProfile == nil ? [.signet] : [.signet, .rabbitMQ]

    // MARK: Where RabbitMQ differs from the specification

    /// RabbitMQ closes the WebSocket without the RECEIPT for DISCONNECT.
    var confirmsDisconnect: Bool { self == .signet }
    /// RabbitMQ says ERROR and leaves it to the client to close the WebSocket, or closes it without an ERROR.
    var closesAfterError: Bool { self == .signet }
    /// RabbitMQ lets a transaction begin twice.
    var refusesSecondBegin: Bool { self == .signet }
}

/// Runs `body`, and closes the connection if that takes longer than any engine needs to end one, and less than a test may take.
func endingSoon<Value: Sendable>(_ link: any StompLink, _ body: () async throws -> Value) async rethrows -> Value {
    let alarm = Task {
        guard (try? await Task.sleep(for: .seconds(50))) != nil else { return }
        Issue.record("The engine did not end the connection.")
        await link.close()
    }
    defer { alarm.cancel() }
    return try await body()
}

/// A running engine.
struct Stage: Sendable {
    let engine: TestEngine
    let profile: DirectoryProfile

    static func open(_ engine: TestEngine) async throws -> Stage {
        switch engine {
        case .signet: return Stage(engine: engine, profile: try await SharedRelay.profile())
        case .rabbitMQ:
            let bytes = try Data(contentsOf: URL(fileURLWithPath: TestEngine.rabbitProfile ?? ""))
            return Stage(engine: engine, profile: try DirectoryProfile(decoding: Array(bytes)))
        }
    }

    /// A device to which no signal was sent.
    func device() async throws -> TestDevice {
        let name = "a" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "") + "@example.org"
        return engine == .signet ? try await .registered(name, at: profile) : try TestDevice(name)
    }

    func endpoint(_ device: TestDevice) throws -> RelayEndpoint {
        guard engine == .rabbitMQ else { return try device.endpoint(profile) }
        let environment = ProcessInfo.processInfo.environment
        let relay = RelayEngine.rabbitMQ(
            login: Array((environment["SIGNET_RABBITMQ_LOGIN"] ?? "").utf8),
            passcode: Array((environment["SIGNET_RABBITMQ_PASSCODE"] ?? "").utf8))
        return RelayEndpoint(relay, at: try ServerAddress(profile.url), through: try profile.connector())
    }

    /// A new call that these devices are in.
    func call(_ devices: TestDevice...) async throws -> CallID {
        let call = TestDevice.call()
        for (place, device) in devices.enumerated() {
            let act: CallAct = place == 0 ? .start(call, inviting: []) : .join(call)
            guard let destination = try endpoint(device).engine.destination(of: act) else { continue }
            let wire = try await connect(device)
            try await wire.confirmed(.send, [StompHeader(.destination, destination)], body: act.body)
            await wire.close()
        }
        return call
    }

    func connect(_ device: TestDevice, heartBeat: HeartBeat = .none) async throws -> Wire {
        let endpoint = try endpoint(device)
        let link = try await endpoint.link()
        let headers = endpoint.engine.connectHeaders(host: "localhost")
        let connection = try await StompConnection.open(over: link, headers: headers, heartBeat: heartBeat)
        return Wire(connection, link, endpoint.engine)
    }
}

/// One server for all tests of the process.
private enum SharedRelay {
    private static let folder = FileManager.default.temporaryDirectory.appending(
        component: "signet-\(UUID().uuidString)"
    ).path
    private static let start = Task { () async throws -> DirectoryProfile in
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: SharedRelay.folder) }
        let data = try await TestRelay.setUp(in: folder)
        let (profiles, report) = AsyncThrowingStream.makeStream(of: DirectoryProfile.self)
        Task.detached {
            do {
                try await TestRelay.run(data) { relay in
                    report.yield(relay.profile)
                    try await Task.sleep(for: .seconds(86_400))
                }
            } catch { report.finish(throwing: error) }
        }
        for try await profile in profiles { return profile }
        throw CancellationError()
    }

    static func profile() async throws -> DirectoryProfile { try await start.value }
}
