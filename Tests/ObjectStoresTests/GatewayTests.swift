// SPDX-License-Identifier: Apache-2.0

import Foundation
import ObjectStores
import ObjectTesting
import S3Requests
import S3Stores
import Testing

/// A gateway that `Scripts/objects` has started: its address, bucket and credentials are in the environment.
struct RealGateway {
    private static let environment = ProcessInfo.processInfo.environment
    static let isThere = environment["SIGNET_S3_ENDPOINT"] != nil
    /// It looks at no signatures and no times, and promises nothing for writes at one moment: moto.
    static let isLenient = environment["SIGNET_S3_LENIENT"] != nil
    static let rules = ObjectRule.allCases.filter { rule in
        !isLenient || ![.oneOfManyFirstWritersWins, .oneOfManySwapsAfterOneTagWins].contains(rule)
    }
    static let secret = environment["SIGNET_S3_SECRET"] ?? ""

    static func configuration(secret: String = secret, prefix: String = "") throws -> S3Configuration {
        let credentials = try #require(
            S3Credentials(accessKey: environment["SIGNET_S3_ACCESS_KEY"] ?? "", secret: secret))
        var configuration = try S3Configuration(
            endpoint: S3Endpoint(environment["SIGNET_S3_ENDPOINT"] ?? ""),
            bucket: environment["SIGNET_S3_BUCKET"] ?? "",
            prefix: prefix, credentials: credentials)
        configuration.deadline = .seconds(60)
        return configuration
    }

    /// Runs a test with the store, below a folder of its own, and closes it.
    static func run(_ body: (S3Objects, String) async throws -> Void) async throws {
        let store = try await S3Objects.open(configuration(prefix: "suite/"))
        let result: Result<Void, any Error>
        do { result = .success(try await body(store, probeName())) } catch { result = .failure(error) }
        await store.close()
        try result.get()
    }
}

/// The engine over a real gateway: Ceph's radosgw, or another that speaks S3.
@Suite(.enabled(if: RealGateway.isThere, "Scripts/objects starts a gateway"), .serialized)
struct GatewayTests {
    @Test(arguments: RealGateway.rules)
    func aRealGatewayKeepsTheRule(rule: ObjectRule) async throws {
        try await RealGateway.run { store, folder in try await rule.check(store, at: folder) }
    }

    @Test(.enabled(if: !RealGateway.isLenient, "this gateway does not look"))
    func ofEightWritersOneWinsTwentyTimes() async throws {
        try await RealGateway.run { store, folder in
            for round in 0..<20 {
                try await ObjectRule.oneOfManySwapsAfterOneTagWins.check(store, at: "\(folder)/\(round)")
            }
        }
    }

    @Test func listsHaveMoreThanOnePage() async throws {
        try await RealGateway.run { store, folder in
            let names = (0..<1203).map { "\(folder)/\(String($0 + 10_000))" }
            for start in stride(from: 0, to: names.count, by: 16) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for name in names[start..<min(start + 16, names.count)] {
                        group.addTask { try await store.putImmutable([1], at: name) }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await store.list("\(folder)/") == names)
        }
    }

    @Test func aLargeObjectComesBackWhole() async throws {
        try await RealGateway.run { store, folder in
            let bytes = (0..<8 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }
            try await store.putImmutable(bytes, at: "\(folder)/large")
            #expect(try await store.get("\(folder)/large")?.bytes == bytes)
            #expect(try await store.putImmutable(bytes, at: "\(folder)/large") == .same)
        }
    }

    private func fault(_ configuration: S3Configuration) async throws -> ObjectFault? {
        let store = try S3Objects(configuration, tagForm: .unquoted)
        var found: ObjectFault?
        do { _ = try await store.put([1], at: "never", .ifAbsent) } catch { found = error }
        await store.close()
        return found
    }

    @Test(.enabled(if: !RealGateway.isLenient, "this gateway does not look"))
    func aWrongSecretIsRefused() async throws {
        let fault = try await fault(RealGateway.configuration(secret: "another"))
        #expect(fault == .refused(.status(403, code: "SignatureDoesNotMatch")))
    }

    @Test(.enabled(if: !RealGateway.isLenient, "this gateway does not look"))
    func aClockThatIsAnHourWrongIsRefusedInWords() async throws {
        var configuration = try RealGateway.configuration()
        configuration.now = { systemSeconds() - 3600 }
        #expect(try await fault(configuration) == .refused(.status(403, code: "RequestTimeTooSkewed")))
    }

    @Test func aBucketThatIsNotThereIsNotAnEmptyOne() async throws {
        let real = try RealGateway.configuration()
        let configuration = try S3Configuration(
            endpoint: real.endpoint, bucket: "no-such-bucket", credentials: real.credentials)
        let store = try S3Objects(configuration, tagForm: .unquoted)
        let refused = ObjectFault.refused(.status(404, code: "NoSuchBucket"))
        await #expect(throws: refused) { try await store.get("a") }
        await #expect(throws: refused) { try await store.list("") }
        await #expect(throws: refused) { try await store.put([1], at: "a", .ifAbsent) }
        await store.close()
    }
}
