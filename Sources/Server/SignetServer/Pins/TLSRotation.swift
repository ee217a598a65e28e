// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyDirectory
package import KeyPinning
import KeyTransparency
import Platform
package import SignetAPI
package import TransparencyLog

/// Moves a server from its TLS key to the one in reserve, beside the running server, which takes the files at the next interval
/// (``PinsAnswering``): new connections get the new certificate, and then the next version of the pins is logged.
///
/// All files are first made in a folder of their own. If it is interrupted, the same call completes it.
package struct TLSRotation: Sendable {
    /// For how long the reserve must have been known, in seconds: 30 days. A client that was away for longer needs a
    /// new directory file only if the server moved on twice meanwhile.
    package static let patience: UInt64 = 30 * 86_400
    /// For how long the reserve must have been public even if the key in use was stolen, in seconds: clients ask once a day. The
    /// reserve of the first version stands in the directory file, so every client knows it, unless the log continues another one.
    package static let notice: UInt64 = 86_400

    private let data: DataDirectory
    /// What the log says.
    private let log: PinsInLog
    /// Whether the operator vouches for the machine's clock.
    private let acceptsClock: Bool
    private var staging: String { data.path + "/tls.next" }
    private var places: [(name: String, path: String)] {
        [
            ("server.key", data.certificateKey), ("server.pem", data.certificate), ("backup.key", data.backupKey),
            ("ca.key", data.rootKey), ("ca.pem", data.root), ("pins.before", data.formerPins), ("pins", data.pins),
            ("directory.signet", data.profile),
        ]
    }

    /// A rotation in a data directory, the server of which may be running.
    ///
    /// - Parameters:
    ///   - log: what its log says of the pins. ``complete()`` does not need it.
    ///   - acceptsClock: whether the operator vouches for the machine's clock, however long after what the log signed last it is.
    package init(_ data: DataDirectory, after log: PinsInLog = PinsInLog(), acceptsClock: Bool = false) {
        (self.data, self.log, self.acceptsClock) = (data, log, acceptsClock)
    }

    /// Puts the key in reserve to use, and makes another one in reserve.
    ///
    /// - Parameters:
    ///   - chain: certificates of the key in reserve, PEM, the server's first; nil: one is made, by the authority that the setup made.
    ///   - isUrgent: whether not to wait for clients that ask seldom: the key in use was stolen.
    ///   - leavesBehind: whether to go on although hardly any client can have learned of the key in reserve. The log has to have it all the
    ///     same: otherwise no client can.
    ///   - now: seconds since 1970.
    /// - Throws: ``TLSRotationError``: nothing has changed.
    package func rotate(
        to chain: [UInt8]? = nil, isUrgent: Bool = false, leavesBehind: Bool = false, at now: UInt64
    ) async throws(TLSRotationError) -> DirectoryPins {
        let old = try begin(at: now)
        let isInEveryFile = try isInEveryFile(old)
        let time = isInEveryFile ? old.time : try announcement(of: old)
        guard isUrgent || now >= time + Self.patience else { throw .tooEarly(until: time + Self.patience) }
        guard leavesBehind || isInEveryFile || now >= time + Self.notice else {
            throw .unannounced(until: time + Self.notice)
        }
        let key = try key(at: data.backupKey)
        let pin = SPKIPin(hashing: Array(key.publicKey.derRepresentation))
        guard old.server.pins.contains(where: { $0.key == pin }) else { throw .reserveNotPinned }
        let identity = try identity(of: key, chain, at: now)
        // Everybody would be locked out, and the log would not get the version that says which key comes next.
        try await requireAccepted(identity, by: old.server, at: now)
        return try publish(old, using: pin, identity, at: now)
    }

    /// Whether everybody has begun with a file in which these pins are: the first version, unless the log continues another one. Clients of that
    /// one have a file with its pins, and it may never have logged those that were taken from it.
    private func isInEveryFile(_ pins: DirectoryPins) throws(TLSRotationError) -> Bool {
        guard pins.version == 1 else { return false }
        do {
            for records in [data.records, data.history] where try KeyChanges(at: records).haveEndedALog() {
                return false
            }
        } catch { throw .stored(.successionUnreadable) }
        return true
    }

    /// Since when clients can have learned of the key in reserve, in seconds since 1970.
    private func announcement(of pins: DirectoryPins) throws(TLSRotationError) -> UInt64 {
        // What the log has and has not published is known to nobody.
        guard let published = log.published, pins.version <= published.version else {
            throw .reserveUnlogged(version: pins.version)
        }
        // The files may have been there long before a server logged them.
        return max(pins.time, published.time)
    }

    /// Has the server's own authority sign the key in use again, for the names that its certificate has: that one ends soon, or clients refuse it.
    /// The pins stay.
    ///
    /// - Throws: ``TLSRotationError``: nothing has changed.
    package func renew(at now: UInt64) async throws(TLSRotationError) {
        try prepare(at: now)
        guard access(data.rootKey, F_OK) == 0 else { throw .authorityNeeded }
        let identity = try identity(of: key(at: data.certificateKey), at: now)
        try await requireAccepted(identity, by: profile().server, at: now)
        try file { () throws(FileFailure) in
            try PrivateFile.replace(data.certificate, with: identity.certificateChain, mode: 0o644)
        }
    }

    /// Makes all files again, including the authority, when all TLS keys are lost. Clients reach the server again with
    /// a file that the recovery key has signed (``PinRecoveryKey``). The new version follows on that of the log, also if the pins in the files
    /// do not agree with the log, or are missing: nothing of them goes on.
    ///
    /// - Throws: ``TLSRotationError``: nothing has changed.
    package func replaceAll(for hosts: [ServerHost], at now: UInt64) throws(TLSRotationError) -> DirectoryPins {
        let old = try begin(at: now, replacesAll: true)
        guard let authority = try? DevelopmentAuthority(hosts: hosts, at: now) else { throw .tls(.invalidCertificate) }
        let identity = TLSIdentity(
            certificateChain: Array(authority.serverPEM.utf8), privateKey: Array(authority.serverKeyPEM.utf8))
        return try publish(old, using: Self.pin(of: identity), identity, under: authority, at: now)
    }

    /// Puts another key in reserve and forgets the one before, which was published by mistake, lost or stolen.
    ///
    /// - Parameters:
    ///   - recoveryKey: names another one; nil: that of before.
    ///   - proxies: what a proxy in a client's settings changes from now on; nil: what it did before.
    /// - Throws: ``TLSRotationError``: nothing has changed.
    package func replaceReserve(
        recoveryKey: VerifierKey? = nil, proxies: PinPolicy.ProxyRule? = nil, at now: UInt64
    ) throws(TLSRotationError) -> DirectoryPins {
        let old = try begin(at: now)
        let identity = try file { () throws(FileFailure) in
            TLSIdentity(
                certificateChain: try PrivateFile.read(data.certificate),
                privateKey: try PrivateFile.read(data.certificateKey))
        }
        let pin = try Self.pin(of: identity)
        // As that of an older copy: nobody would reach the server to learn of it.
        guard old.server.pins.contains(where: { $0.key == pin }) else { throw .keyNotPinned }
        return try publish(
            old, using: pin, identity, recoveryKey: recoveryKey, proxies: proxies, at: now)
    }

    /// Puts files in place that an interrupted rotation had ready.
    ///
    /// - Returns: whether there were any.
    /// - Throws: ``FileFailure``.
    package func complete() throws(FileFailure) -> Bool {
        guard access(staging, F_OK) == 0 else { return false }
        for (name, path) in places {
            // The server may be doing the same.
            guard systemRename("\(staging)/\(name)", path) == 0 || errno == ENOENT else { throw FileFailure(path) }
        }
        for folder in [data.path + "/tls", data.path] { try PrivateFile.synchronize(folder: folder) }
        guard rmdir(staging) == 0 || errno == ENOENT else { throw FileFailure(staging) }
        return true
    }

    private static func pin(of identity: TLSIdentity) throws(TLSRotationError) -> SPKIPin {
        do { return try identity.pin } catch { throw .tls(error) }
    }

    private func prepare(at now: UInt64) throws(TLSRotationError) {
        // The server could not read what another user writes here, and would not start again.
        guard FileStatus(of: data.path).map({ $0.owner == geteuid() }) ?? true else { throw .otherOwner }
        guard try !file({ () throws(FileFailure) in try complete() }) else { throw .completed }
        try requireClock(at: now)
    }

    private func profile() throws(TLSRotationError) -> DirectoryProfile {
        do { return try StoredDirectory.readProfile(data) } catch { throw .stored(error) }
    }

    /// - Parameter replacesAll: whether nothing of the pins in the files goes on.
    /// - Returns: what the next version follows on.
    private func begin(at now: UInt64, replacesAll: Bool = false) throws(TLSRotationError) -> DirectoryPins {
        try prepare(at: now)
        let profile = try profile()
        let logged = log.newest?.version ?? 0
        var all: [DirectoryPins] = []
        var fault: StoredPinsError?
        do { all = try StoredPins.existing(in: data, of: profile) } catch { fault = error }
        guard log.announced.map({ text in all.contains { $0.text == text } }) ?? true else {
            throw .announced(version: logged + 1)
        }
        if let fault {
            // What clients were told stands in their file too, but for its time.
            let isTold = profile.mark.map { $0.version == logged && log.newest?.isOf(hash: $0.hash) == true } ?? false
            guard replacesAll || isTold && fault.isMissing else { throw .pins(fault) }
            return try origin(version: logged, profile, at: now)
        }
        let standing = StoredPins.standing(of: all, to: log.newest)
        guard let old = all.last, standing == .agreed else {
            guard !replacesAll else { return try origin(version: logged, profile, at: now) }
            guard standing == .other else { throw .outdated(logged: logged, here: all.last?.version ?? 0) }
            throw .otherLogged(version: logged)
        }
        // The log gets one version after the other, and the files hold two.
        guard old.version <= logged + 1 else { throw .unlogged(version: old.version - 1) }
        return old
    }

    /// What the next version follows on where the file of the pins does not say it.
    private func origin(
        version: UInt64, _ profile: DirectoryProfile, at now: UInt64
    ) throws(TLSRotationError) -> DirectoryPins {
        guard let origin = profile.trust.policy.logs.first?.name else { throw .stored(.noLog) }
        return DirectoryPins(origin: origin, version: version, time: now, server: profile.server)
    }

    /// A certificate that begins in the future would lock people out until then.
    private func requireClock(at now: UInt64) throws(TLSRotationError) {
        guard let signed = log.signed, !acceptsClock else { return }
        do { try ClockAhead.check(now, after: signed) } catch { throw .clockAhead(error) }
    }

    private func key(at path: String) throws(TLSRotationError) -> P256.Signing.PrivateKey {
        let text = try file { () throws(FileFailure) in try PrivateFile.read(path) }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: String(decoding: text, as: UTF8.self)) else {
            throw .unreadable(path: path)
        }
        return key
    }

    /// A key with the certificates that are given, or with one that is made.
    private func identity(
        of key: P256.Signing.PrivateKey, _ chain: [UInt8]? = nil, at now: UInt64
    ) throws(TLSRotationError) -> TLSIdentity {
        let certificates = if let chain { chain } else { try certificate(for: key, at: now) }
        let identity = TLSIdentity(
            certificateChain: certificates, privateKey: Array((key.pemRepresentation + "\n").utf8))
        do { _ = try identity.context() } catch { throw .tls(error) }
        return identity
    }

    /// The authority's key may be another one than clients trust, and a certificate that is given may be for another name or time.
    private func requireAccepted(
        _ identity: TLSIdentity, by trust: ServerTrust, at now: UInt64
    ) async throws(TLSRotationError) {
        let url = try profile().url
        if let word = await identity.refusal(by: trust, at: url, now) { throw .refusedByClients(word) }
    }

    private func certificate(for key: P256.Signing.PrivateKey, at now: UInt64) throws(TLSRotationError) -> [UInt8] {
        guard access(data.rootKey, F_OK) == 0 else { throw .certificateNeeded }
        let (root, rootKey, server) = try file { () throws(FileFailure) in
            (
                try PrivateFile.read(data.root), try PrivateFile.read(data.rootKey),
                try PrivateFile.read(data.certificate)
            )
        }
        do {
            return try DevelopmentAuthority.certificate(
                for: key, like: server, by: root, String(decoding: rootKey, as: UTF8.self), at: now)
        } catch {
            switch error {
            case .server: throw .unreadable(path: data.certificate)
            case .root: throw .unreadable(path: data.root)
            case .rootKey: throw .unreadable(path: data.rootKey)
            }
        }
    }

    /// Writes everything beside, then puts it in place.
    private func publish(
        _ old: DirectoryPins, using pin: SPKIPin, _ identity: TLSIdentity, under authority: DevelopmentAuthority? = nil,
        recoveryKey: VerifierKey? = nil, proxies: PinPolicy.ProxyRule? = nil, at now: UInt64
    ) throws(TLSRotationError) -> DirectoryPins {
        let spare = P256.Signing.PrivateKey()
        let leaves = [
            Pin(pin, tier: .leaf),
            Pin(SPKIPin(hashing: Array(spare.publicKey.derRepresentation)), tier: .leaf, isBackup: true),
        ]
        let next = DirectoryPins(
            origin: old.origin, version: old.version + 1, time: now,
            server: old.server.with(
                root: authority?.root,
                pins: leaves + (authority == nil ? old.server.pins.filter { $0.tier != .leaf } : []),
                recoveryKey: recoveryKey, proxies: proxies))
        let profile = try profile().following(next)
        // Pins that the log has not are none that these follow on.
        let follows = old.version > 0 && StoredPins.standing(of: [old, next], to: log.newest) == .agreed
        let draft = staging + ".new"
        do throws(FileFailure) {
            try remove(draft)
            try PrivateFile.makeFolder(draft)
            try PrivateFile.write(identity.privateKey, to: draft + "/server.key")
            try PrivateFile.write(identity.certificateChain, to: draft + "/server.pem", mode: 0o644)
            try PrivateFile.write((spare.pemRepresentation + "\n").utf8, to: draft + "/backup.key")
            if let authority {
                try PrivateFile.write(authority.rootPEM.utf8, to: draft + "/ca.pem", mode: 0o644)
                try PrivateFile.write(authority.rootKeyPEM.utf8, to: draft + "/ca.key")
            }
            try PrivateFile.write((follows ? old : next).text, to: draft + "/pins.before", mode: 0o644)
            try PrivateFile.write(next.text, to: draft + "/pins", mode: 0o644)
            try PrivateFile.write(profile.encoded, to: draft + "/directory.signet", mode: 0o644)
            try PrivateFile.synchronize(folder: draft)
            guard systemRename(draft, staging) == 0 else { throw FileFailure(staging) }
            try PrivateFile.synchronize(folder: data.path)
        } catch {
            // Nobody needs the keys in it.
            try? remove(draft)
            throw .file(error)
        }
        _ = try file { () throws(FileFailure) in try complete() }
        return next
    }

    private func remove(_ draft: String) throws(FileFailure) {
        for (name, _) in places { unlink("\(draft)/\(name)") }
        guard rmdir(draft) == 0 || errno == ENOENT else { throw FileFailure(draft) }
    }

    private func file<Value>(_ body: () throws(FileFailure) -> Value) throws(TLSRotationError) -> Value {
        do { return try body() } catch { throw .file(error) }
    }
}

/// Why TLS keys did not change.
package enum TLSRotationError: Error, Sendable {
    /// An interrupted rotation was completed instead; nothing else was done.
    case completed
    /// Clients have not had the time to learn of the key in reserve; at this time, in seconds since 1970, they have.
    case tooEarly(until: UInt64)
    /// The key in reserve became public less than a day ago; at this time, in seconds since 1970, clients have asked.
    case unannounced(until: UInt64)
    /// The data directory belongs to another user than the one this process runs as.
    case otherOwner
    /// The machine's clock is far after what the log signed last.
    case clockAhead(ClockAhead)
    /// The log has later pins than the files.
    case outdated(logged: UInt64, here: UInt64)
    /// The log has other pins of this version than the files: another machine, or a newer state of this one, has made them.
    case otherLogged(version: UInt64)
    /// Another machine has made this version, which the log does not have yet.
    case announced(version: UInt64)
    /// The log does not have this version yet, and would never get it.
    case unlogged(version: UInt64)
    /// The log has not published this version yet, so that no client knows the key in reserve.
    case reserveUnlogged(version: UInt64)
    /// This file holds no key, or no certificate, that can be read.
    case unreadable(path: String)
    /// The key in `tls/backup.key` is not one that clients accept.
    case reserveNotPinned
    /// The key of `tls/server.pem`, which is to stay in use, is not one that clients accept.
    case keyNotPinned
    /// The authority's key is not here: a certificate for the key in reserve has to be given.
    case certificateNeeded
    /// The authority's key is not here, which signs another certificate for the key in use.
    case authorityNeeded
    /// Clients would refuse the new certificate; the word says why.
    case refusedByClients(String)
    /// Key and certificate do not go together.
    case tls(TLSIdentityError)
    /// The pins of now were not read.
    case pins(StoredPinsError)
    /// The data directory was not read.
    case stored(StoredDirectoryError)
    /// The storage failed.
    case file(FileFailure)
}

private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }
