// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// Everything a site keeps about one person: no name, no address, no time of registration, and nothing that another
/// site also gets.
///
/// Wire form: `signet-site-member/v1` LF; 16-byte account; 33-byte key; 33-byte recovery key; u8 0, or 1 and behind it
/// 33-byte new key, 33-byte new recovery key, u64 time.
public struct SiteMember: Hashable, Sendable {
    /// The site's own random name for the person, 16 bytes.
    public let account: [UInt8]
    /// With which they sign in: P-256, 33 bytes.
    public let publicKey: [UInt8]
    /// With which they bring new keys after a recovery: P-256, 33 bytes.
    public let recoveryKey: [UInt8]
    /// New keys that wait.
    public let waiting: WaitingKeys?

    /// Keys that will succeed a member's unless the present key objects.
    public struct WaitingKeys: Hashable, Sendable {
        /// P-256, 33 bytes.
        public let publicKey: [UInt8]
        /// P-256, 33 bytes.
        public let recoveryKey: [UInt8]
        /// When they count, in seconds since 1970.
        public let due: UInt64
    }

    init(account: [UInt8], publicKey: [UInt8], recoveryKey: [UInt8], waiting: WaitingKeys? = nil) {
        self.account = account
        self.publicKey = publicKey
        self.recoveryKey = recoveryKey
        self.waiting = waiting
    }

    /// Every key by which the member may come: no two members share one.
    public var keys: [[UInt8]] {
        [publicKey, recoveryKey] + (waiting.map { [$0.publicKey, $0.recoveryKey] } ?? [])
    }

    /// The member as they are at a time: keys that waited long enough have taken over.
    func settled(at now: UInt64) -> SiteMember {
        guard let waiting, waiting.due <= now else { return self }
        return SiteMember(account: account, publicKey: waiting.publicKey, recoveryKey: waiting.recoveryKey)
    }

    func with(_ waiting: WaitingKeys?) -> SiteMember {
        SiteMember(account: account, publicKey: publicKey, recoveryKey: recoveryKey, waiting: waiting)
    }
}

extension SiteMember {
    private static let format = Array("signet-site-member/v1\n".utf8)

    /// The wire form, for the site's own store.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(account)
        writer.write(publicKey)
        writer.write(recoveryKey)
        writer.write(UInt8(waiting == nil ? 0 : 1))
        if let waiting {
            writer.write(waiting.publicKey)
            writer.write(waiting.recoveryKey)
            writer.write(waiting.due)
        }
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: `CanonicalCodingError`: not exactly what ``encoded`` writes.
    public init(decoding bytes: [UInt8]) throws(CanonicalCodingError) {
        var reader = ByteReader(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
            throw .invalidCharacter(offset: 0)
        }
        account = Array(try reader.bytes(SiteAnswer.accountByteCount))
        publicKey = Array(try reader.bytes(33))
        recoveryKey = Array(try reader.bytes(33))
        switch try reader.uint8() {
        case 0: waiting = nil
        case 1:
            waiting = WaitingKeys(
                publicKey: Array(try reader.bytes(33)), recoveryKey: Array(try reader.bytes(33)),
                due: try reader.uint64())
        default: throw .invalidCharacter(offset: reader.offset)
        }
        try reader.end()
    }
}

/// Where a site keeps its members.
public protocol SiteStore: Sendable {
    /// The member who has this key among ``SiteMember/keys``.
    func member(withKey key: [UInt8]) async throws(SiteStoreError) -> SiteMember?

    /// Puts a member in, or in the place of what is there for their account, durably and as a whole.
    ///
    /// - Returns: false, and nothing changed, when `expected` is not what is there now, or when another account has one
    ///   of the keys.
    func put(_ member: SiteMember, replacing expected: SiteMember?) async throws(SiteStoreError) -> Bool
}

/// Why a store did not answer: the environment's fault, worth a retry.
public enum SiteStoreError: Error, Hashable, Sendable {
    /// Reading or writing failed.
    case unavailable
    /// What is there is no member.
    case damaged
}
