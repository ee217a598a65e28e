// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogWitness
public import TransparencyLog

/// Makes the data directory of a new witness: its keys (ML-DSA-44 where this build has it), an empty memory, an empty list of logs, and a TLS identity.
public struct WitnessSetup: Sendable {
    /// The name of the witness's keys, which is permanent.
    public let name: KeyName
    /// Where the TLS key and certificates come from; nil for a witness that speaks plain HTTP on loopback.
    public let tls: DirectorySetup.TLSSource?

    /// A setup; nothing is made yet.
    public init(name: KeyName, tls: DirectorySetup.TLSSource?) {
        self.name = name
        self.tls = tls
    }

    /// Makes the data directory, all of it or nothing, as ``DirectorySetup`` does.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: the public key.
    /// - Throws: ``SetupError``.
    public func make(_ data: WitnessDirectory, at now: UInt64) throws(SetupError) -> VerifierKey {
        guard access(data.path, F_OK) != 0 else { throw .exists }
        let draft = WitnessDirectory(path: "\(data.path).setup-\(getpid())-\(UInt32.random(in: 0 ... .max))")
        do throws(SetupError) {
            let key = try fill(draft, at: now)
            try draft.tls.rename(to: data.tls)
            return key
        } catch {
            try? FileManager.default.removeItem(atPath: draft.path)
            throw error
        }
    }

    private func fill(_ draft: WitnessDirectory, at now: UInt64) throws(SetupError) -> VerifierKey {
        try setupFile { () throws(FileFailure) in
            try PrivateFile.makeFolder(draft.path)
            if tls != nil { try PrivateFile.makeFolder(draft.path + "/tls") }
            try WitnessKeyFile.create(name, at: draft.key)
            if VerifierKey.Algorithm.mlDSA44.isVerified {
                try WitnessKeyFile.create(name, .mlDSA44, at: draft.postQuantumKey)
            }
            try PrivateFile.write("logs/v0\n".utf8, to: draft.logs, mode: 0o644)
        }
        let key: VerifierKey
        do { key = try WitnessKeyFile.read(draft.key).verifierKey } catch { throw .file(FileFailure(draft.key)) }
        do { try Witness.create(memory: draft.memory, for: key) } catch { throw .witness(error) }
        _ = try tls?.write(to: draft.tls, at: now)
        try setupFile { () throws(FileFailure) in
            if tls != nil { try PrivateFile.synchronize(folder: draft.path + "/tls") }
            try PrivateFile.synchronize(folder: draft.path)
        }
        return key
    }
}
