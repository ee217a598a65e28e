// SPDX-License-Identifier: Apache-2.0

package import Crypto
import Foundation
import SecretMemory

/// What all front ends of one directory share, so that one opens what another sealed: possession challenges, logins between their two
/// messages, tickets to the relay of call frames, and what they say to each other about signals.
///
/// Every use has a key of its own, by HKDF-SHA-256. The file is copied to all front ends; a rotation has three steps, of which each is on
/// all front ends before the next: ``announce(in:)`` makes a secret that is accepted and not used, ``rotate(in:)`` uses it, and that of
/// before is accepted for ``lifetime`` from then on.
///
/// Security: whoever has it can make challenges that prove nothing, come into the relayed frames of a call whose id they know, speak as a front
/// end to those that carry signals, and finish no login without the password. It signs nothing, and opens neither frames nor signals.
public struct FrontEndSecret: Sendable {
    /// What something sealed is for. The raw value is the key's info.
    package enum Purpose: String, CaseIterable {
        /// `PossessionChallenge`.
        case possession = "signet-shared/v1 possession"
        /// A login between its two messages.
        case login = "signet-shared/v1 login"
        /// Names under which shared counts of guesses are kept, so that they name no address.
        case attempts = "signet-shared/v1 attempts"
        /// A ticket to the relay of call frames.
        case tickets = "signet-shared/v1 tickets"
        /// What front ends say to each other about the signals of calls.
        case signals = "signet-shared/v1 signals"
    }

    /// Nothing that is sealed is good for longer, in seconds: a possession challenge for an hour, a ticket for two minutes, a login for one. Five
    /// minutes are for clocks.
    public static let lifetime: UInt64 = 3600 + 300

    private let current: SymmetricKey
    private let next: SymmetricKey?
    private let former: (key: SymmetricKey, end: UInt64)?
    private let replaced: [UInt8]?

    /// A random one, which only this process knows.
    public init() { self.init(SymmetricKey(size: .bits256)) }

    /// Given secrets.
    ///
    /// - Parameters:
    ///   - former: the secret of before, and until when it is accepted, in seconds since 1970.
    ///   - replaced: the digest of the one of before, if it was stolen.
    package init(
        _ current: SymmetricKey, next: SymmetricKey? = nil, former: (key: SymmetricKey, end: UInt64)? = nil,
        replaced: [UInt8]? = nil
    ) {
        self.replaced = replaced
        self.current = current
        self.next = next
        self.former = former
    }

    /// Reads the secret of a folder of keys.
    ///
    /// - Returns: nil if there is none: the server is alone, or does not know that it is not.
    /// - Throws: ``KeyFileError``.
    public static func read(from folder: String) throws(KeyFileError) -> FrontEndSecret? {
        let files = KeyFolder(path: folder)
        let (next, former) = (try key(.nextShared, in: files), try key(.formerShared, in: files))
        guard let current = try key(.shared, in: files) else {
            // It may have been one, which the other front ends have.
            guard !files.isEmpty(.shared) else { throw .malformed(.shared) }
            // A rotation was interrupted between its two renames.
            guard let next else { return nil }
            let end = try files.writingTime(of: .nextShared) + lifetime
            return FrontEndSecret(next, former: former.map { ($0, end) })
        }
        let end = try files.writingTime(of: .shared) + lifetime
        let replaced = try key(.replacedShared, in: files)?.withUnsafeBytes { Array($0) }
        return FrontEndSecret(current, next: next, former: former.map { ($0, end) }, replaced: replaced)
    }

    /// Makes the secret: the first one in use, and any later one beside it, accepted and not used.
    ///
    /// - Returns: the file that was made, or that was there from before.
    /// - Throws: ``KeyFileError``.
    public static func announce(in folder: String) throws(KeyFileError) -> KeyFile {
        let files = KeyFolder(path: folder)
        if try key(.nextShared, in: files) != nil { return .nextShared }
        let file = try key(.shared, in: files) == nil ? KeyFile.shared : .nextShared
        try make(file, in: files)
        return file
    }

    /// Makes the secret, unless there is one: a directory that was shared before keeps its own, and gets no next one that nobody has asked for.
    ///
    /// - Throws: ``KeyFileError``.
    package static func makeFirst(in folder: String) throws(KeyFileError) {
        if try key(.shared, in: KeyFolder(path: folder)) == nil { _ = try announce(in: folder) }
    }

    /// Uses the announced secret from the next start on, and accepts the one of before for ``lifetime``.
    ///
    /// - Throws: ``KeyFileError``; `missing(.nextShared)`: none was announced. An interrupted rotation is completed by repeating it.
    public static func rotate(in folder: String) throws(KeyFileError) {
        let files = KeyFolder(path: folder)
        guard try key(.nextShared, in: files) != nil else { throw .missing(.nextShared) }
        do { if !files.isEmpty(.shared) { try files.rename(.shared, to: .formerShared) } } catch {
            // Interrupted between the two renames.
            guard error == .missing(.shared) else { throw error }
        }
        try files.touch(.nextShared)
        try files.rename(.nextShared, to: .shared)
        try files.synchronize(.shared)
    }

    /// Replaces a stolen secret at once, on this front end: nothing that was sealed before is accepted.
    ///
    /// - Throws: ``KeyFileError``.
    public static func replaceStolen(in folder: String) throws(KeyFileError) {
        let files = KeyFolder(path: folder)
        if let stolen = try key(.shared, in: files) {
            try files.remove(.replacedShared)
            try files.create(.replacedShared, secret: digest(of: stolen).span)
        }
        for file in [KeyFile.nextShared, .formerShared, .shared] { try files.remove(file) }
        try make(.shared, in: files)
    }

    private static func make(_ file: KeyFile, in files: KeyFolder) throws(KeyFileError) {
        var secret = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        defer { secret.wipe() }
        try files.create(file, secret: secret.span)
    }

    private static func key(_ file: KeyFile, in files: KeyFolder) throws(KeyFileError) -> SymmetricKey? {
        do {
            return try files.withSecret(of: file) { (bytes) throws(KeyFileError) in SymmetricKey(data: bytes) }
        } catch {
            guard error == .missing(file) || error == .malformed(file) && files.isEmpty(file) else { throw error }
            return nil
        }
    }

    /// By which a database recognises the secret in use, those whose place it has taken, and the next one: 32 bytes each.
    package var digests: (current: [UInt8], former: [[UInt8]], next: [UInt8]?) {
        (
            Self.digest(of: current), [former.map { Self.digest(of: $0.key) }, replaced].compactMap(\.self),
            next.map(Self.digest)
        )
    }

    private static func digest(of key: SymmetricKey) -> [UInt8] {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, info: Array("signet-shared/v1 digest".utf8), outputByteCount: 32
        ).withUnsafeBytes { Array($0) }
    }

    /// The keys of a purpose.
    package func keys(for purpose: Purpose) -> SealingKeys {
        func derived(_ key: SymmetricKey) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Array(purpose.rawValue.utf8), outputByteCount: 32)
        }
        return SealingKeys(
            current: derived(current), next: next.map(derived), former: former.map { (derived($0.key), $0.end) })
    }
}

/// The keys under which something is sealed, and opened, for one purpose.
package struct SealingKeys: Sendable {
    /// Seals.
    package let current: SymmetricKey
    private let next: SymmetricKey?
    private let former: (key: SymmetricKey, end: UInt64)?

    fileprivate init(current: SymmetricKey, next: SymmetricKey?, former: (key: SymmetricKey, end: UInt64)?) {
        self.current = current
        self.next = next
        self.former = former
    }

    /// Those that open at this time, in seconds since 1970, the one that seals first.
    package func accepted(at now: UInt64) -> [SymmetricKey] {
        var keys = [current]
        if let next { keys.append(next) }
        if let former, now < former.end { keys.append(former.key) }
        return keys
    }
}
