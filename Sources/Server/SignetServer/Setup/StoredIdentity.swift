// SPDX-License-Identifier: Apache-2.0

import Foundation

extension TLSIdentity {
    /// Reads an identity's two files.
    ///
    /// - Throws: ``StoredIdentityError``: the operator has to act.
    public init(certificate: String, key: String) throws(StoredIdentityError) {
        do {
            let attributes = try? FileManager.default.attributesOfItem(atPath: key)
            let mode = (attributes?[.posixPermissions] as? NSNumber)?.uint16Value ?? 0
            guard mode & 0o077 == 0 else { throw StoredIdentityError.keyNotPrivate(path: key) }
            self.init(
                certificateChain: try PrivateFile.read(certificate), privateKey: try PrivateFile.read(key))
        } catch let error as FileFailure {
            throw .file(error)
        } catch let error as StoredIdentityError {
            throw error
        } catch { throw .keyNotPrivate(path: key) }
    }

    /// Reads the file of a root certificate, PEM.
    ///
    /// - Throws: ``StoredIdentityError/file(_:)``.
    public static func readRoot(_ path: String) throws(StoredIdentityError) -> [UInt8] {
        do { return try PrivateFile.read(path) } catch { throw .file(error) }
    }
}

/// Why a TLS identity was not read.
public enum StoredIdentityError: Error, Hashable, Sendable {
    /// Others than the owner may use the key's file: correct its mode, and consider whether it was read.
    case keyNotPrivate(path: String)
    /// A file was not read.
    case file(FileFailure)
    /// The certificate is for a key that no client accepts: put the one of before back.
    case notPinned
}
