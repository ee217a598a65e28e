// SPDX-License-Identifier: Apache-2.0

import SignetAPI
package import TransparencyLog

/// The key, kept away from the server, by which clients are brought new pins when no TLS key they know is left.
package enum PinRecoveryKey {
    /// Makes a key in a new file, named after the log with `/recovery`.
    ///
    /// - Returns: its public half, for ``DirectorySetup/recoveryKey``.
    /// - Throws: ``RecoveryKeyError``.
    package static func make(for origin: KeyName, at path: String) throws(RecoveryKeyError) -> VerifierKey {
        guard let name = try? KeyName(origin.bytes + Array("/recovery".utf8)) else { throw .invalidName }
        do { try WitnessKeyFile.create(name, .ed25519, at: path) } catch { throw .file(error) }
        return try read(path).verifierKey
    }

    /// The note by which clients accept pins.
    ///
    /// - Parameters:
    ///   - pins: the file of the pins, ``DataDirectory/pins``.
    ///   - key: the file of the key.
    /// - Throws: ``RecoveryKeyError``.
    package static func sign(_ pins: String, with key: String) throws(RecoveryKeyError) -> [UInt8] {
        let (text, signer): (DirectoryPins, NoteSigner)
        do { text = try StoredPins.read(pins) } catch { throw .pins(error) }
        signer = try read(key)
        do { return try text.note(by: signer) } catch { throw .invalidName }
    }

    private static func read(_ path: String) throws(RecoveryKeyError) -> NoteSigner {
        do { return try WitnessKeyFile.read(path, .ed25519) } catch { throw .key(error) }
    }
}

/// Why a recovery key was not made or used.
package enum RecoveryKeyError: Error, Sendable {
    /// The log's name cannot begin a key's name.
    case invalidName
    /// The key's file was not made.
    case file(FileFailure)
    /// The key's file was not read.
    case key(StoredWitnessError)
    /// The pins were not read.
    case pins(StoredPinsError)
}
