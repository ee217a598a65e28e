// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// Challenges that a site gave out: it remembers those that were used, and none that were not.
///
/// 32 bytes: 12 random, u32 seconds since 1970, the first 16 of HMAC-SHA256 over both. Giving out challenges costs no
/// memory, so that an attacker cannot crowd out another person's challenge by asking for many. Used challenges are
/// remembered until they are stale, those of strangers apart from those of members: an attacker who registers made-up
/// keys without end keeps others from registering for five minutes, and keeps no member from signing in.
struct SiteChallenges {
    /// Who used a challenge up.
    enum User: CaseIterable {
        /// A person whose key the site knew.
        case member
        /// Any other person, such as one who registers.
        case stranger
    }

    /// For how long one is good, in seconds.
    static let lifetime: UInt64 = 300
    /// How many used ones are remembered of members, and as many of strangers; each is the size of a hash table's slot and
    /// 32 bytes.
    static let maximumUsedCount = 262_144

    private let key: SymmetricKey
    private let maximumCount: Int
    private var used: [User: UsedChallenges] = [:]

    /// - Parameters:
    ///   - key: challenges under another one are stale.
    ///   - maximumCount: how many are remembered of members, and of strangers.
    init(key: SymmetricKey, maximumCount: Int = Self.maximumUsedCount) {
        self.key = key
        self.maximumCount = maximumCount
    }

    /// A new one; `random` has 12 bytes.
    func issue(at now: UInt64, random: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(random.prefix(12))
        writer.write(UInt32(truncatingIfNeeded: now))
        return writer.bytes + tag(writer.bytes)
    }

    /// Whether it is the site's, still good, and not used.
    func isGood(_ challenge: [UInt8], at now: UInt64) -> Bool {
        guard challenge.count == 32, !used.values.contains(where: { $0.contains(challenge) }) else { return false }
        let text = Array(challenge.prefix(16))
        guard isEqual(Array(challenge.suffix(16)), tag(text)) else { return false }
        let time = UsedChallenges.time(of: challenge)
        return time <= now && now - time < Self.lifetime
    }

    /// Whether there is room to remember one more. What is stale is forgotten first, also and above all when there is none.
    mutating func hasRoom(for user: User, at now: UInt64) -> Bool {
        used[user]?.forget(before: now)
        return used[user]?.count ?? 0 < maximumCount
    }

    /// Remembers a good one as used.
    mutating func use(_ challenge: [UInt8], by user: User) { used[user, default: UsedChallenges()].insert(challenge) }

    /// In a time that does not depend on where they differ; both have 16 bytes.
    private func isEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        zip(first, second).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func tag(_ text: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: text, using: key).prefix(16))
    }
}

// MARK: Over a restart

extension SiteChallenges {
    private static let format = Array("signet-site-challenges/v1\n".utf8)

    /// Everything, for the site's next start: the key, 32 bytes; for members and then for strangers u32 count and the
    /// challenges that were used and are not stale, 32 bytes each.
    ///
    /// Security: a party that reads it can make challenges; restoring an older copy makes those used since good again.
    mutating func encoded(at now: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        key.withUnsafeBytes { writer.write(Array($0)) }
        for user in User.allCases {
            used[user]?.forget(before: now)
            let all = used[user]?.all ?? []
            writer.write(UInt32(truncatingIfNeeded: all.count))
            for challenge in all { writer.write(challenge) }
        }
        return writer.bytes
    }

    /// Reads what ``encoded(at:)`` prints; nil for anything else.
    init?(decoding bytes: [UInt8]) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else { return nil }
            self.init(key: SymmetricKey(data: Array(try reader.bytes(32))))
            for user in User.allCases {
                let count = try reader.uint32()
                guard count <= Self.maximumUsedCount else { return nil }
                for _ in 0..<count { use(Array(try reader.bytes(32)), by: user) }
            }
            try reader.end()
        } catch { return nil }
    }
}

/// Used challenges by the minute in which they were given out, so that a whole minute is forgotten at once.
private struct UsedChallenges {
    private var minutes: [UInt64: Set<[UInt8]>] = [:]
    private(set) var count = 0

    var all: [[UInt8]] {
        minutes.keys.sorted().flatMap { minutes[$0]?.sorted { $0.lexicographicallyPrecedes($1) } ?? [] }
    }

    func contains(_ challenge: [UInt8]) -> Bool { minutes[Self.minute(of: challenge)]?.contains(challenge) ?? false }

    mutating func insert(_ challenge: [UInt8]) {
        if minutes[Self.minute(of: challenge), default: []].insert(challenge).inserted { count += 1 }
    }

    /// Forgets the minutes of which all challenges are stale.
    mutating func forget(before now: UInt64) {
        for (minute, challenges) in minutes where minute * 60 + 59 + SiteChallenges.lifetime <= now {
            minutes[minute] = nil
            count -= challenges.count
        }
    }

    /// When it was given out, in seconds since 1970.
    static func time(of challenge: [UInt8]) -> UInt64 { challenge[12..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }

    private static func minute(of challenge: [UInt8]) -> UInt64 { time(of: challenge) / 60 }
}
