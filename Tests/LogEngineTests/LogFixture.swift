// SPDX-License-Identifier: Apache-2.0

import SignetTesting
import Synchronization
import TransparencyLog

@testable import LogEngine

/// The keys and the clock of one log under test, and what it published.
final class LogFixture: Sendable {
    static let origin = Array("log.example/signet-test".utf8)
    static let witness = Array("witness.example".utf8)

    /// Seconds since 1970, moved by the test.
    let time = Atomic<UInt64>(1_700_000_000)
    private let publishedNotes = Mutex<[PublishedCheckpoint]>([])
    private let failures = Mutex<[LogFailure]>([])

    /// Every checkpoint ever published through ``configuration``, in order.
    var published: [PublishedCheckpoint] { publishedNotes.withLock { $0 } }
    /// Every call of `onFatal`.
    var fatal: [LogFailure] { failures.withLock { $0 } }

    static func signer(
        _ name: [UInt8] = origin, _ algorithm: VerifierKey.Algorithm = .ed25519, seed: UInt8 = 7
    ) throws -> NoteSigner {
        try NoteSigner(
            name: KeyName(name), algorithm: algorithm, seed: [UInt8](repeating: seed, count: 32))
    }

    /// Small segments, so that a short run has several.
    func configuration(origin: [UInt8] = LogFixture.origin) throws -> LogConfiguration {
        var configuration = LogConfiguration(
            signer: try Self.signer(origin),
            cosigners: [try Self.signer(Self.witness, .cosignatureV1, seed: 9)],
            clock: { [self] in time.load(ordering: .relaxed) })
        configuration.setSegmentSizes(segment: 16 << 10, preallocated: 1024)
        configuration.onPublished = { [self] checkpoint in publishedNotes.withLock { $0.append(checkpoint) } }
        configuration.onFatal = { [self] failure in failures.withLock { $0.append(failure) } }
        return configuration
    }

    /// Creates a log on a storage and opens it.
    func newLog(on disk: any LogFileSystem) async throws -> DurableLog {
        try await DurableLog.create(in: disk, try configuration())
        return try await DurableLog.open(in: disk, try configuration())
    }

    /// Opens the log that is on a storage.
    func log(on disk: any LogFileSystem) async throws -> DurableLog {
        try await DurableLog.open(in: disk, try configuration())
    }

    /// How long a frame of the write-ahead log is: 24 bytes before the entries, 2 before each, 32 after.
    static func frameByteCount(_ entries: [[UInt8]]) -> Int { entries.reduce(24 + 32) { $0 + 2 + $1.count } }

    /// The entries with these numbers: no two alike, of different lengths.
    static func entries(_ numbers: Range<Int>) -> [[UInt8]] {
        numbers.map { Array("entry \($0)".utf8) + [UInt8](repeating: UInt8($0 % 251), count: $0 % 40) }
    }
}

extension LogOpenError {
    /// The error that `body` throws, or nil if it throws none.
    static func met(_ body: () async throws -> Void) async throws -> LogOpenError? {
        do {
            try await body()
            return nil
        } catch let error as LogOpenError {
            return error
        }
    }
}

extension SimulatedDisk {
    /// The path of the newest segment.
    var newestSegment: String { paths.filter { LogFileKind(path: $0) == .segment }.max() ?? "" }
}
