// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// What a site says. Refusals are answers too: they are decisions of the site, and not faults of the connection.
///
/// Wire form: u8 kind; 16-byte account behind 1, 2 and 3; u64 time behind 2 (0 for none) and 4.
public enum SiteAnswer: Hashable, Sendable {
    /// 1: the site knows this key from now on. The same registration again has the same answer.
    case registered(account: [UInt8])
    /// 2: it is the one who registered. If new keys were asked for in their name, the time when they will count.
    case signedIn(account: [UInt8], recoveryDue: UInt64?)
    /// 3: the new keys count, the old ones no longer.
    case recovered(account: [UInt8])
    /// 4: new keys are known and count from this time on, in seconds since 1970, unless the old key objects.
    case recoveryWaits(until: UInt64)
    /// 5: the new keys that waited are forgotten.
    case objected
    /// 16: no member has this key.
    case unknownKey
    /// 17: a member has this key already.
    case keyInUse
    /// 18: the challenge is not the site's, or is used, or too old. Ask for another.
    case staleChallenge
    /// 19: signature, keys or host are not right.
    case refused
    /// 20: nothing waits that could be objected to.
    case nothingWaits
    /// 21: too much at once. Try later.
    case busy

    /// The longest wire form, in bytes.
    public static let maximumByteCount = 25
    /// How long an account is, in bytes: random, and the site's own.
    public static let accountByteCount = 16

    private var kind: UInt8 {
        switch self {
        case .registered: 1
        case .signedIn: 2
        case .recovered: 3
        case .recoveryWaits: 4
        case .objected: 5
        case .unknownKey: 16
        case .keyInUse: 17
        case .staleChallenge: 18
        case .refused: 19
        case .nothingWaits: 20
        case .busy: 21
        }
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(kind)
        switch self {
        case .registered(let account), .recovered(let account): writer.write(account)
        case .signedIn(let account, let due):
            writer.write(account)
            writer.write(due ?? 0)
        case .recoveryWaits(let time): writer.write(time)
        default: break
        }
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: `CanonicalCodingError`: not exactly what ``encoded`` writes.
    public init(decoding bytes: [UInt8]) throws(CanonicalCodingError) {
        var reader = ByteReader(bytes)
        let kind = try reader.uint8()
        switch kind {
        case 1: self = .registered(account: try Self.account(&reader))
        case 2:
            let account = try Self.account(&reader)
            let due = try reader.uint64()
            self = .signedIn(account: account, recoveryDue: due == 0 ? nil : due)
        case 3: self = .recovered(account: try Self.account(&reader))
        case 4: self = .recoveryWaits(until: try reader.uint64())
        default:
            guard let answer = Self.plain.first(where: { $0.kind == kind }) else {
                throw .invalidCharacter(offset: 0)
            }
            self = answer
        }
        try reader.end()
    }

    private static let plain: [SiteAnswer] = [
        .objected, .unknownKey, .keyInUse, .staleChallenge, .refused, .nothingWaits, .busy,
    ]

    private static func account(_ reader: inout ByteReader) throws(CanonicalCodingError) -> [UInt8] {
        Array(try reader.bytes(accountByteCount))
    }
}
