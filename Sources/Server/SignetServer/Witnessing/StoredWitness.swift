// SPDX-License-Identifier: Apache-2.0

import Foundation
public import LogWitness
public import Logging
public import TransparencyLog

/// A witness's data directory that was set up.
public struct StoredWitness: Sendable {
    private let data: WitnessDirectory
    private let signer: NoteSigner
    private let postQuantumSigner: NoteSigner?
    /// The logs that it serves.
    public let logs: WitnessedLogs

    /// Its public key.
    public var verifierKey: VerifierKey { signer.verifierKey }
    /// Its second public key, ML-DSA-44; nil for a witness that has none.
    public var postQuantumKey: VerifierKey? { postQuantumSigner?.verifierKey }

    /// Makes the second key of a witness that has none.
    ///
    /// - Returns: the public key; nil where this build cannot sign with ML-DSA-44, and nothing was made.
    /// - Throws: ``StoredWitnessError``; ``StoredWitnessError/file(_:)`` when there is one already.
    public static func addPostQuantumKey(
        to data: WitnessDirectory
    ) throws(StoredWitnessError) -> VerifierKey? {
        let name = try StoredWitness(data).verifierKey.name
        guard VerifierKey.Algorithm.mlDSA44.isVerified else { return nil }
        do throws(FileFailure) {
            try WitnessKeyFile.create(name, .mlDSA44, at: data.postQuantumKey)
            try PrivateFile.synchronize(folder: data.path)
        } catch { throw .file(error) }
        return try StoredWitness(data).postQuantumKey
    }

    /// Reads the keys and the list of logs.
    ///
    /// - Throws: ``StoredWitnessError``: the operator has to act.
    public init(_ data: WitnessDirectory) throws(StoredWitnessError) {
        guard access(data.key, F_OK) == 0 || access(data.path, F_OK) == 0 else { throw .notSetUp }
        self.data = data
        let first = try WitnessKeyFile.read(data.key)
        signer = first
        postQuantumSigner = try Self.second(data, named: first.verifierKey.name)
        logs = try Self.list(data)
    }

    private static func second(
        _ data: WitnessDirectory, named name: KeyName
    ) throws(StoredWitnessError) -> NoteSigner? {
        guard access(data.postQuantumKey, F_OK) == 0 else { return nil }
        let signer = try WitnessKeyFile.read(data.postQuantumKey, .mlDSA44)
        guard signer.verifierKey.name == name else { throw .keyDamaged }
        return signer
    }

    /// The longest list of logs, in bytes: some four hundred thousand logs.
    private static let maximumListByteCount = 64 << 20

    private static func list(_ data: WitnessDirectory) throws(StoredWitnessError) -> WitnessedLogs {
        let text: [UInt8]
        do { text = try PrivateFile.read(data.logs, maximumByteCount: maximumListByteCount) } catch {
            throw .file(error)
        }
        do { return try WitnessedLogs(decoding: text) } catch { throw .logs(error) }
    }

    /// The identity in the data directory; nil if the witness was set up for plain HTTP.
    ///
    /// - Throws: ``StoredIdentityError``.
    public func identity() throws(StoredIdentityError) -> TLSIdentity? {
        guard access(data.tls.certificate, F_OK) == 0 else { return nil }
        return try TLSIdentity(certificate: data.tls.certificate, key: data.tls.certificateKey)
    }

    /// Opens the database of what was cosigned.
    ///
    /// - Throws: ``StoredWitnessError/memory(_:)``.
    public func open(logger: Logger) throws(StoredWitnessError) -> Witness {
        let clock = Witness.Clock(time: ServerClock.system.time, uptime: ServerClock.system.uptime)
        let rules = WitnessRules(logs: logs, signer: signer, postQuantumSigner: postQuantumSigner)
        do { return try Witness(rules, memory: data.memory, clock: clock, logger: logger) } catch {
            throw .memory(error)
        }
    }

    /// Adds logs to the current list, durably; concurrent additions wait. A running witness serves them
    /// after its next start.
    ///
    /// - Throws: ``StoredWitnessError/logs(_:)`` and ``StoredWitnessError/file(_:)``; the list is unchanged.
    public func add(_ entries: [WitnessedLogs.Entry]) throws(StoredWitnessError) {
        let folder = Foundation.open(data.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .file(FileFailure(data.path)) }
        defer { close(folder) }
        while flock(folder, LOCK_EX) != 0 { guard errno == EINTR else { throw .file(FileFailure(data.path)) } }
        let known = try Self.list(data)
        let text: [UInt8]
        do { text = try WitnessedLogs(known.entries + entries).encoded } catch { throw .logs(error) }
        guard text.count <= Self.maximumListByteCount else { throw .file(FileFailure(data.logs, code: EFBIG)) }
        let draft = "\(data.logs).new-\(getpid())"
        do throws(FileFailure) {
            try PrivateFile.write(text, to: draft, mode: 0o644)
            guard rename(draft, data.logs) == 0 else { throw FileFailure(data.logs) }
            try PrivateFile.synchronize(folder: data.path)
        } catch {
            unlink(draft)
            throw .file(error)
        }
    }
}

/// Why a witness's data directory was not opened. The operator has to act.
public enum StoredWitnessError: Error, Hashable, Sendable {
    /// There is no data directory.
    case notSetUp
    /// Others than the owner may use the key's file: correct its mode, and consider whether it was read.
    case keyNotPrivate
    /// The key's file is none.
    case keyDamaged
    /// A file was not read or written.
    case file(FileFailure)
    /// The list of logs does not stand.
    case logs(WitnessedLogsError)
    /// The memory was not opened.
    case memory(WitnessStoreError)
}
