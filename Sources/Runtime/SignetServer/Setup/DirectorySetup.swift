import Crypto
import Foundation
public import KeyDirectory
import KeyPinning
import KeyTransparency
public import Logging
public import SignetAPI
import SwiftASN1
public import TransparencyLog
import VRF
import X509

/// Makes the data directory of a new server: keys, TLS identity, an empty log, and the file for its clients.
public struct DirectorySetup: Sendable {
    /// The log's origin, for ever.
    public let origin: KeyName
    /// `https://host[:port]`, as clients reach it.
    public let url: String
    /// Where the TLS key and certificates come from.
    public let tls: TLSSource
    private let logger: Logger

    /// Where the TLS key and certificates come from.
    public enum TLSSource: Sendable {
        /// An authority made for this server alone, which vouches for these names.
        case own(hosts: [ServerHost])
        /// Existing files: the server's identity, and the root certificate that clients are to trust, PEM.
        case existing(TLSIdentity, root: [UInt8])
    }

    /// A setup; nothing is made yet.
    public init(origin: KeyName, url: String, tls: TLSSource, logger: Logger) {
        self.logger = logger
        self.origin = origin
        self.url = url
        self.tls = tls
    }

    /// Makes the data directory, all of it or nothing.
    ///
    /// Everything is made in a folder next to the place, which then gets the name. If that is interrupted, a folder
    /// of the name with `.setup-` and a number is left, which may be deleted.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: what clients need to trust the server; also in ``DataDirectory/profile``.
    /// - Throws: ``SetupError``.
    public func make(_ data: DataDirectory, at now: UInt64) async throws(SetupError) -> DirectoryProfile {
        guard access(data.path, F_OK) != 0 else { throw .exists }
        let draft = DataDirectory(path: "\(data.path).setup-\(getpid())")
        do {
            let profile = try await fill(draft, at: now)
            try finish(draft, as: data)
            return profile
        } catch {
            try? FileManager.default.removeItem(atPath: draft.path)
            throw error
        }
    }

    private func fill(_ draft: DataDirectory, at now: UInt64) async throws(SetupError) -> DirectoryProfile {
        for folder in [draft.path, draft.keys, draft.path + "/tls"] {
            try file { () throws(FileFailure) in try PrivateFile.makeFolder(folder) }
        }
        let (root, leaf) = try makeTLS(draft, at: now)
        let pins = [Pin(leaf, tier: .leaf), Pin(try makeBackupKey(draft), tier: .leaf, isBackup: true)]
        let keys: DirectoryKeys
        do { keys = try DirectoryKeys.create(in: draft.keys, origin: origin) } catch { throw .keys(error) }
        let profile = try profile(keys, root: root, pins: pins)
        do {
            try await Directory.create(at: draft.records, keys: keys, clock: ServerClock.system.time, logger: logger)
        } catch { throw .directory(error) }
        try file { () throws(FileFailure) in
            try PrivateFile.write(profile.encoded, to: draft.profile, mode: 0o644)
            for folder in [draft.path + "/tls", draft.records, draft.keys, draft.path] {
                try PrivateFile.synchronize(folder: folder)
            }
        }
        return profile
    }

    /// Makes the key that clients accept besides the server's, so that losing the one locks nobody out.
    private func makeBackupKey(_ draft: DataDirectory) throws(SetupError) -> SPKIPin {
        let key = P256.Signing.PrivateKey()
        try file { () throws(FileFailure) in
            try PrivateFile.write((key.pemRepresentation + "\n").utf8, to: draft.backupKey)
        }
        return SPKIPin(hashing: Array(key.publicKey.derRepresentation))
    }

    private static func pin(_ chain: [UInt8]) throws(SetupError) -> SPKIPin {
        guard let leaf = try? PEMBlock.certificates(in: chain).first, let fields = try? CertificateFields(leaf) else {
            throw .tls(.invalidCertificate)
        }
        return fields.pin
    }

    /// Writes the TLS files and returns the root certificate, DER, and the pin of the server's key.
    private func makeTLS(
        _ draft: DataDirectory, at now: UInt64
    ) throws(SetupError) -> (root: [UInt8], leaf: SPKIPin) {
        switch tls {
        case .existing(let identity, let root):
            do { _ = try identity.context() } catch { throw .tls(error) }
            guard let der = try? Certificate(pemEncoded: String(decoding: root, as: UTF8.self)).derBytes else {
                throw .tls(.invalidCertificate)
            }
            try write(identity, root, draft)
            return (der, try Self.pin(identity.certificateChain))
        case .own(let hosts):
            let authority: DevelopmentAuthority
            do { authority = try DevelopmentAuthority(hosts: hosts, at: now) } catch { throw .certificates }
            let identity = TLSIdentity(
                certificateChain: Array(authority.serverPEM.utf8), privateKey: Array(authority.serverKeyPEM.utf8))
            try write(identity, Array(authority.rootPEM.utf8), draft)
            try file { () throws(FileFailure) in
                try PrivateFile.write(authority.rootKeyPEM.utf8, to: draft.rootKey)
            }
            return (authority.root, try Self.pin(identity.certificateChain))
        }
    }

    private func write(_ identity: TLSIdentity, _ root: [UInt8], _ draft: DataDirectory) throws(SetupError) {
        try file { () throws(FileFailure) in
            try PrivateFile.write(identity.certificateChain, to: draft.certificate, mode: 0o644)
            try PrivateFile.write(identity.privateKey, to: draft.certificateKey)
            try PrivateFile.write(root, to: draft.root, mode: 0o644)
        }
    }

    /// Trust in the log's key and in every cosigner of the server's own.
    private func profile(
        _ keys: DirectoryKeys, root: [UInt8], pins: [Pin]
    ) throws(SetupError) -> DirectoryProfile {
        var text = Array("log ".utf8) + keys.log.verifierKey.encoded + [UInt8(ascii: "\n")]
        for cosigner in keys.cosigners {
            text += Array("witness clock ".utf8) + cosigner.verifierKey.encoded + [UInt8(ascii: "\n")]
        }
        text += Array((keys.cosigners.isEmpty ? "quorum none\n" : "quorum clock\n").utf8)
        let policy: Policy
        do { policy = try Policy(decoding: text) } catch { throw .policy(error) }
        return DirectoryProfile(
            url: url, tlsRoot: root, pins: pins,
            trust: DirectoryTrust(policy: policy, vrfKey: keys.vrf.publicKey, freshness: .standard))
    }

    private func finish(_ draft: DataDirectory, as data: DataDirectory) throws(SetupError) {
        try file { () throws(FileFailure) in
            guard rename(draft.path, data.path) == 0 else { throw FileFailure(data.path) }
            try PrivateFile.synchronize(folder: data.path + "/..")
        }
    }

    private func file(_ body: () throws(FileFailure) -> Void) throws(SetupError) {
        do { try body() } catch { throw .file(error) }
    }
}

/// Why a data directory was not made. Nothing is left of it.
public enum SetupError: Error, Sendable {
    /// There is something of that name already; a server's data is never overwritten.
    case exists
    /// The keys were not made.
    case keys(KeyFileError)
    /// The log or the database was not made.
    case directory(DirectoryOpenError)
    /// The TLS files given do not go together.
    case tls(TLSIdentityError)
    /// The certificates were not made.
    case certificates
    /// The origin or a key cannot stand in a policy.
    case policy(PolicyError)
    /// The storage failed.
    case file(FileFailure)
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
