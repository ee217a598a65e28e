import CanonicalCoding
import Crypto

/// Challenges that a site gave out: it remembers those that were used, and none that were not.
///
/// 32 bytes: 12 random, u32 seconds since 1970, the first 16 of HMAC-SHA256 over both. Giving out costs no memory, so
/// that nobody can crowd out another person's challenge by asking for many.
struct SiteChallenges {
    /// For how long one is good, in seconds.
    static let lifetime: UInt64 = 300
    /// How many used ones are remembered; each is the size of a hash table's slot and 32 bytes.
    static let maximumUsedCount = 262_144

    private let key: SymmetricKey
    private var used: [[UInt8]: UInt64] = [:]
    private var sweptAt: UInt64 = 0

    /// - Parameter key: of this start of the site; challenges of another start are stale.
    init(key: SymmetricKey) { self.key = key }

    /// A new one; `random` has 12 bytes.
    func issue(at now: UInt64, random: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(random.prefix(12))
        writer.write(UInt32(truncatingIfNeeded: now))
        return writer.bytes + tag(writer.bytes)
    }

    /// Whether it is the site's, still good, and not used.
    func isGood(_ challenge: [UInt8], at now: UInt64) -> Bool {
        guard challenge.count == 32, used[challenge] == nil else { return false }
        let text = Array(challenge.prefix(16))
        guard isEqual(Array(challenge.suffix(16)), tag(text)) else { return false }
        let time = challenge[12..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return time <= now && now - time < Self.lifetime
    }

    /// Whether there is room to remember one more.
    var hasRoom: Bool { used.count < Self.maximumUsedCount }

    /// Remembers a good one as used.
    mutating func use(_ challenge: [UInt8], at now: UInt64) {
        if now >= sweptAt + Self.lifetime || now < sweptAt {
            used = used.filter { $0.value + Self.lifetime > now }
            sweptAt = now
        }
        used[challenge] = now
    }

    /// In a time that does not depend on where they differ; both have 16 bytes.
    private func isEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        zip(first, second).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func tag(_ text: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: text, using: key).prefix(16))
    }
}
