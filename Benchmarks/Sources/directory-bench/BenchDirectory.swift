// SPDX-License-Identifier: Apache-2.0

import BenchBaseline
import BenchPeople
import Crypto
import Foundation
import KeyDirectory
import KeyTransparency
import Logging
import SignetServer
import TransparencyLog
import VRF

/// A data directory, made and served as `signetd` does.
struct BenchDirectory {
    private static let registeringAtOnce = 512
    let data: DataDirectory
    private let logger: Logger

    init(path: String) {
        data = DataDirectory(path: path)
        var logger = Logger(label: "directory-bench")
        logger.logLevel = .warning
        self.logger = logger
    }

    func make(accounts: Int) async throws {
        _ = try await DirectorySetup(
            origin: try Self.origin(), url: "https://localhost:8443", tls: .own(hosts: [.name("localhost")]),
            logger: logger
        ).make(data, at: Self.now())
        let directory = try await open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<Self.registeringAtOnce {
                group.addTask {
                    for number in stride(from: worker, to: accounts, by: Self.registeringAtOnce) {
                        try await BenchPerson(number: number).register(in: directory, at: Self.now())
                    }
                }
            }
            try await group.waitForAll()
        }
        await directory.close()
    }

    func serve(port: Int) async throws {
        let directory = try await open()
        var configuration = HTTPSServer.Configuration()
        configuration.port = port
        configuration.limits.connectionsPerAddress = configuration.limits.connections
        configuration.limits.idle = .seconds(3600)
        configuration.limits.firstHead = .seconds(3600)
        configuration.limits.addressRate = .unlimited
        configuration.limits.connectionRate = .unlimited
        configuration.limits.accountRate = .unlimited
        configuration.limits.registrations.burst = 0
        let server = try HTTPSServer(
            directory, identity: try Self.identity(data), configuration: configuration, logger: logger)
        try await server.run { announce($0) }
        await directory.close()
    }

    static func identity(_ data: DataDirectory) throws -> TLSIdentity {
        TLSIdentity(
            certificateChain: Array(try Data(contentsOf: URL(fileURLWithPath: data.certificate))),
            privateKey: Array(try Data(contentsOf: URL(fileURLWithPath: data.certificateKey))))
    }

    private func open() async throws -> Directory {
        let keys = try DirectoryKeys.read(from: data.keys, origin: try Self.origin())
        return try await Directory.open(
            at: data.records, keys: keys, clock: { Self.now() }, logger: logger)
    }

    private static func origin() throws -> KeyName { try KeyName(Array("bench.example/log".utf8)) }

    static func now() -> UInt64 { UInt64(Date().timeIntervalSince1970) }
}

/// That many bytes from the system's generator.
func randomBytes(_ count: Int) -> [UInt8] {
    SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
}
