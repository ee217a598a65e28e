// SPDX-License-Identifier: Apache-2.0

import Platform
import SwiftASN1
import X509

extension DirectorySetup.TLSSource {
    /// Writes the TLS files of a data directory and returns the root certificate, DER.
    func write(to draft: DataDirectory, at now: UInt64) throws(SetupError) -> [UInt8] {
        switch self {
        case .existing(let identity, let root):
            do { _ = try identity.context() } catch { throw .tls(error) }
            guard let der = try? Certificate(pemEncoded: String(decoding: root, as: UTF8.self)).derBytes else {
                throw .tls(.invalidCertificate)
            }
            try Self.write(identity, root, draft)
            return der
        case .own(let hosts):
            let authority: DevelopmentAuthority
            do { authority = try DevelopmentAuthority(hosts: hosts, at: now) } catch { throw .certificates }
            let identity = TLSIdentity(
                certificateChain: Array(authority.serverPEM.utf8), privateKey: Array(authority.serverKeyPEM.utf8))
            try Self.write(identity, Array(authority.rootPEM.utf8), draft)
            try setupFile { () throws(FileFailure) in
                try PrivateFile.write(authority.rootKeyPEM.utf8, to: draft.rootKey)
            }
            return authority.root
        }
    }

    private static func write(
        _ identity: TLSIdentity, _ root: [UInt8], _ draft: DataDirectory
    ) throws(SetupError) {
        try setupFile { () throws(FileFailure) in
            try PrivateFile.write(identity.certificateChain, to: draft.certificate, mode: 0o644)
            try PrivateFile.write(identity.privateKey, to: draft.certificateKey)
            try PrivateFile.write(root, to: draft.root, mode: 0o644)
        }
    }
}

extension DataDirectory {
    /// Gives a finished directory its name, durably.
    func rename(to data: DataDirectory) throws(SetupError) {
        try setupFile { () throws(FileFailure) in
            guard systemRename(path, data.path) == 0 else { throw FileFailure(data.path) }
            try PrivateFile.synchronize(folder: data.path + "/..")
        }
    }
}

private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }

/// Runs a step of the setup that works with files.
func setupFile(_ body: () throws(FileFailure) -> Void) throws(SetupError) {
    do { try body() } catch { throw .file(error) }
}

extension Certificate {
    fileprivate var derBytes: [UInt8] {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(self)
            return serializer.serializedBytes
        }
    }
}
