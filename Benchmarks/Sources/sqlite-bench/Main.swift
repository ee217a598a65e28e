// SPDX-License-Identifier: Apache-2.0

import BenchPeople
import Foundation
import KeyDirectory
import LogEngine
import Logging
import Measuring
import TransparencyLog
import VRF

/// What a directory on one machine, with SQLite and files, takes for registrations and for appends.
///
///     sqlite-bench FOLDER REGISTRATIONS BATCHES
///
/// Prints one line: registrations a second, microseconds of processor time for one, entries a second of batches of 256, and microseconds of
/// processor time for an entry. `Benchmarks/before.py` compares two builds of it, of which the older one is of another commit: it uses only
/// what both have.
@main struct SQLiteBench {
    private static let atOnce = 512
    private static let batch = 256
    private static let entryByteCount = 134

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let folder = arguments.first, let people = Int(arguments[2]),
            let batches = Int(arguments[3])
        else { throw Usage() }
        var logger = Logger(label: "sqlite-bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let keys = try keys()
        try await Directory.create(at: folder, keys: keys, clock: now, logger: logger)
        let directory = try await Directory.open(at: folder, keys: keys, clock: now, logger: logger)
        let (rate, cost) = try await registrations(people, in: directory)
        await directory.close()
        let (appendRate, appendCost) = try await appends(batches, in: folder + "/bare", keys)
        print("COUNTED \(rate) \(cost) \(appendRate) \(appendCost)")
    }

    /// From sending to the last receipt; what clients do is done before.
    private static func registrations(_ count: Int, in directory: Directory) async throws -> (Double, Double) {
        let made = try await Prepared.registrations(of: 0..<count, for: directory, at: now())
        let start = (wallTime(), processTime())
        try await Prepared.send(made, to: directory, atOnce: atOnce)
        let (wall, cost) = (wallTime() - start.0, processTime() - start.1)
        return (Double(count) / wall * 1e9, cost / Double(count) / 1e3)
    }

    /// To a log without an index.
    private static func appends(
        _ batches: Int, in folder: String, _ keys: DirectoryKeys
    ) async throws -> (Double, Double) {
        let configuration = LogConfiguration(signer: keys.log, cosigners: keys.cosigners, clock: now)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await DurableLog.create(at: folder, configuration)
        let log = try await DurableLog.open(at: folder, configuration)
        var generator = SystemRandomNumberGenerator()
        let drawn = (0..<batches).map { _ in
            (0..<batch).map { _ in (0..<entryByteCount).map { _ in UInt8.random(in: 0...255, using: &generator) } }
        }
        let start = (wallTime(), processTime())
        for entries in drawn { _ = try await log.append(entries) }
        let (wall, cost) = (wallTime() - start.0, processTime() - start.1)
        await log.close()
        let count = Double(batches * batch)
        return (count / wall * 1e9, cost / count / 1e3)
    }

    private static func keys() throws -> DirectoryKeys {
        let name = try KeyName(Array("bench.example/log".utf8))
        let seed = [UInt8](repeating: 7, count: 32)
        return DirectoryKeys(
            log: try NoteSigner(name: name, algorithm: .ed25519, seed: seed),
            cosigners: [
                try NoteSigner(name: DirectoryKeys.clockName(of: name), algorithm: .cosignatureV1, seed: seed)
            ], vrf: try VRFPrivateKey(seed))
    }

    private static func now() -> UInt64 { UInt64(Date().timeIntervalSince1970) }
}

/// The arguments are not understood: the comment above says what they may be.
struct Usage: Error {}
