// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
public import KeyDirectory
public import KeyPinning
public import KeyTransparency
public import LogWitness
public import Logging
public import SignetAPI
public import TransparencyLog
import VRF

/// Makes the data directory of a new server: keys, TLS identity, an empty log, and the file for its clients.
public struct DirectorySetup: Sendable {
    /// The log's origin, which is permanent.
    public let origin: KeyName
    /// `https://host[:port]`, as clients reach it.
    public let url: String
    /// Where the TLS key and certificates come from.
    public let tls: TLSSource
    /// Lines of a policy that name witnesses, groups and a quorum (C2SP tlog-policy); empty for no witnesses. They may
    /// name `clock`, the server's own cosigner.
    public let witnesses: [UInt8]
    /// The key that names other TLS keys when all are lost; it is kept away from the server. nil for none.
    public let recoveryKey: VerifierKey?
    /// What a proxy in a client's settings changes.
    public let proxies: PinPolicy.ProxyRule
    /// How old the answers may be that clients take, in seconds.
    public let maximumAge: UInt64
    /// Where a token keeps the log's key; nil: it is made, and kept in a file.
    public var token: TokenAddress?
    private let logger: Logger

    /// Where the TLS key and certificates come from.
    public enum TLSSource: Sendable {
        /// An authority made for this server alone, which vouches for these names.
        case own(hosts: [ServerHost])
        /// Existing files: the server's identity, and the root certificate that clients are to trust, PEM.
        case existing(TLSIdentity, root: [UInt8])
    }

    /// A setup; nothing is made yet.
    public init(
        origin: KeyName, url: String, tls: TLSSource, witnesses: [UInt8] = [], recoveryKey: VerifierKey? = nil,
        proxies: PinPolicy.ProxyRule = .record, maximumAge: UInt64 = FreshnessRule.standard.maximumAge,
        logger: Logger
    ) {
        self.witnesses = witnesses
        self.recoveryKey = recoveryKey
        self.proxies = proxies
        self.maximumAge = maximumAge
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
        // A number alone may be that of another process in another container.
        let draft = DataDirectory(path: "\(data.path).setup-\(getpid())-\(UInt32.random(in: 0 ... .max))")
        do {
            let profile = try await fill(draft, at: now)
            try draft.rename(to: data)
            return profile
        } catch {
            // Not a folder that another process with this number is filling.
            if case .file(let failure) = error, failure.path == draft.path, failure.code == EEXIST { throw error }
            try? FileManager.default.removeItem(atPath: draft.path)
            throw error
        }
    }

    private func fill(_ draft: DataDirectory, at now: UInt64) async throws(SetupError) -> DirectoryProfile {
        for folder in [draft.path, draft.keys, draft.path + "/tls"] {
            try setupFile { () throws(FileFailure) in try PrivateFile.makeFolder(folder) }
        }
        let root = try tls.write(to: draft, at: now)
        let pins = [
            Pin(try Self.serverPin(draft), tier: .leaf), Pin(try makeBackupKey(draft), tier: .leaf, isBackup: true),
        ]
        let keys: DirectoryKeys
        do { keys = try DirectoryKeys.create(in: draft.keys, origin: origin, token: token) } catch {
            throw .keys(error)
        }
        let first = DirectoryPins(
            origin: origin, version: 1, time: now,
            server: ServerTrust(root: root, pins: pins, recoveryKey: recoveryKey, proxies: proxies))
        let profile = try profile(keys, first)
        do {
            try await Directory.create(at: draft.records, keys: keys, clock: ServerClock.system.time, logger: logger)
        } catch { throw .directory(error) }
        try setupFile { () throws(FileFailure) in
            try PrivateFile.write(first.text, to: draft.pins, mode: 0o644)
            try PrivateFile.write(profile.encoded, to: draft.profile, mode: 0o644)
            for folder in [draft.path + "/tls", draft.records, draft.keys, draft.path] {
                try PrivateFile.synchronize(folder: folder)
            }
        }
        return profile
    }

    /// Makes the key that clients accept besides the server's, so that losing one key locks no client out.
    private func makeBackupKey(_ draft: DataDirectory) throws(SetupError) -> SPKIPin {
        let key = P256.Signing.PrivateKey()
        try setupFile { () throws(FileFailure) in
            try PrivateFile.write((key.pemRepresentation + "\n").utf8, to: draft.backupKey)
        }
        return SPKIPin(hashing: Array(key.publicKey.derRepresentation))
    }

    /// The pin of the server's own key.
    private static func serverPin(_ draft: DataDirectory) throws(SetupError) -> SPKIPin {
        let chain: [UInt8]
        do throws(FileFailure) { chain = try PrivateFile.read(draft.certificate) } catch { throw .file(error) }
        do { return try TLSIdentity(certificateChain: chain, privateKey: []).pin } catch { throw .tls(error) }
    }

    /// Trust in the log's key, and in the witnesses given or, without any, in the server's own cosigner.
    private func profile(
        _ keys: DirectoryKeys, _ pins: DirectoryPins
    ) throws(SetupError) -> DirectoryProfile {
        let policy: Policy
        do {
            policy = try Self.policy(
                log: Policy.Log(key: keys.log.verifierKey), cosigners: keys.cosigners, witnesses: witnesses)
        } catch { throw .policy(error) }
        return DirectoryProfile(
            url: url, server: pins.server, mark: pins.mark,
            trust: DirectoryTrust(
                policy: policy, vrfKey: keys.vrf.publicKey, freshness: FreshnessRule(maximumAge: maximumAge)))
    }

    /// The policy of a log with these lines of witnesses, which may name `clock`, the server's own cosigner.
    static func policy(
        log: Policy.Log, cosigners: [NoteSigner], witnesses: [UInt8]
    ) throws(PolicyError) -> Policy {
        var text = Array("log ".utf8) + log.key.encoded + (log.url.map { [UInt8(ascii: " ")] + $0 } ?? [])
        text.append(UInt8(ascii: "\n"))
        for cosigner in cosigners {
            text += Array("witness clock ".utf8) + cosigner.verifierKey.encoded + [UInt8(ascii: "\n")]
        }
        let alone = Array((cosigners.isEmpty ? "quorum none\n" : "quorum clock\n").utf8)
        return try Policy(decoding: text + (witnesses.isEmpty ? alone : witnesses))
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
    /// The memory of a witness was not made.
    case witness(WitnessStoreError)
    /// The storage failed.
    case file(FileFailure)
}
