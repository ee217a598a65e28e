// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// The self that one site knows, which no other site sees anything of.
public struct SiteIdentity: Hashable, Sendable {
    /// The site.
    public let host: VerifiedHost
    /// P-256, 33 bytes, compressed: random, in the keystore under ``PrivateKeyName/site(_:generation:)``.
    public let publicKey: [UInt8]
    /// P-256, 33 bytes, compressed: succeeds ``publicKey`` after a recovery. Its private half is in the recovery journal,
    /// and in the keystore under ``PrivateKeyName/siteRecovery(_:generation:)``, since a journal of new guardians needs it again.
    public let recoveryKey: [UInt8]
    /// In seconds since 1970.
    public let createdAt: UInt64

    /// A self for a site.
    ///
    /// - Throws: ``SiteIdentityError/invalidKey``: the keys are not two different P-256 points.
    public init(
        host: VerifiedHost, publicKey: [UInt8], recoveryKey: [UInt8], createdAt: UInt64
    ) throws(SiteIdentityError) {
        guard P256Text.isKey(publicKey), P256Text.isKey(recoveryKey), publicKey != recoveryKey else {
            throw .invalidKey
        }
        self.host = host
        self.publicKey = publicKey
        self.recoveryKey = recoveryKey
        self.createdAt = createdAt
    }
}

/// All of a person's identities, one per site.
///
/// Wire form: `signet-sites/v1` LF; u16 count; for each, in rising order of host: u16 length, host, 33-byte key, 33-byte
/// recovery key, u64 time. Only for the person's own device.
public struct SiteIdentities: Hashable, Sendable {
    /// The most sites.
    public static let maximumCount = 4096

    private var identities: [VerifiedHost: SiteIdentity] = [:]
    private static let format = Array("signet-sites/v1\n".utf8)

    /// No site knows the person yet.
    public init() {}

    /// In order of host.
    public var all: [SiteIdentity] {
        identities.values.sorted { $0.host.text.lexicographicallyPrecedes($1.host.text) }
    }

    /// The self for a site.
    ///
    /// - Throws: ``SiteIdentityError/unknownSite``: the site does not know the person. Offer to register; no other
    ///   identity, and never the account's own, stands in.
    public func identity(for host: VerifiedHost) throws(SiteIdentityError) -> SiteIdentity {
        guard let identity = identities[host] else { throw .unknownSite }
        return identity
    }

    /// Adds a self for a site that does not know the person.
    ///
    /// - Throws: ``SiteIdentityError``: the site has one, a key is used at another site, or there are too many.
    public mutating func add(_ identity: SiteIdentity) throws(SiteIdentityError) {
        guard identities[identity.host] == nil else { throw .knownSite }
        try insert(identity)
    }

    /// Replaces the self for a site after a recovery: both keys must be new.
    ///
    /// - Throws: ``SiteIdentityError``.
    public mutating func replace(with identity: SiteIdentity) throws(SiteIdentityError) {
        let old = try self.identity(for: identity.host)
        guard Set([old.publicKey, old.recoveryKey, identity.publicKey, identity.recoveryKey]).count == 4 else {
            throw .keyUsedElsewhere
        }
        identities[identity.host] = nil
        do throws(SiteIdentityError) { try insert(identity) } catch {
            identities[identity.host] = old
            throw error
        }
    }

    /// Forgets a site. Erase its key in the keystore too.
    public mutating func forget(_ host: VerifiedHost) { identities[host] = nil }

    private mutating func insert(_ identity: SiteIdentity) throws(SiteIdentityError) {
        guard identities.count < Self.maximumCount else { throw .tooMany }
        let used = Set(identities.values.flatMap { [$0.publicKey, $0.recoveryKey] })
        guard !used.contains(identity.publicKey), !used.contains(identity.recoveryKey) else {
            throw .keyUsedElsewhere
        }
        identities[identity.host] = identity
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(UInt16(identities.count))
        for identity in all {
            writer.write(UInt16(identity.host.text.count))  // at most 253 + 6
            writer.write(identity.host.text)
            writer.write(identity.publicKey)
            writer.write(identity.recoveryKey)
            writer.write(identity.createdAt)
        }
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``SiteIdentityError``: not exactly what ``encoded`` writes.
    public init(decoding bytes: [UInt8]) throws(SiteIdentityError) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw SiteIdentityError.unknownFormat
            }
            for _ in 0..<(try reader.uint16()) {
                let length = Int(try reader.uint16())
                let host = try VerifiedHost(stored: Array(try reader.bytes(length)))
                let publicKey = Array(try reader.bytes(33))
                let recoveryKey = Array(try reader.bytes(33))
                try add(
                    SiteIdentity(
                        host: host, publicKey: publicKey, recoveryKey: recoveryKey, createdAt: reader.uint64()))
            }
            try reader.end()
        } catch let error as SiteIdentityError { throw error } catch { throw .malformed }
        guard encoded == bytes else { throw .malformed }
    }
}

/// Why there is no identity for a site, or none was added.
public enum SiteIdentityError: Error, Hashable, Sendable {
    /// The site does not know the person.
    case unknownSite
    /// The site knows the person already.
    case knownSite
    /// A key is used at another site, or was used before.
    case keyUsedElsewhere
    /// Not two different P-256 points of 33 bytes.
    case invalidKey
    /// ``SiteIdentities/maximumCount`` are there.
    case tooMany
    /// The bytes do not begin with `signet-sites/v1`.
    case unknownFormat
    /// The bytes do not have the form.
    case malformed
}
