// SPDX-License-Identifier: Apache-2.0

/// The curves of Themis keys.
public enum ECCurve: UInt8, Sendable, Hashable, CaseIterable {
    /// NIST P-256, the only one for which Themis makes keys.
    case p256 = 0x32
    /// NIST P-384.
    case p384 = 0x33
    /// NIST P-521.
    case p521 = 0x35

    /// Bytes of a coordinate and of a scalar: 32, 48 or 66.
    public var fieldByteCount: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }
}

/// The sizes of Themis RSA keys.
public enum RSASize: UInt8, Sendable, Hashable, CaseIterable {
    /// 1024 bits: its container is read, its key is not used.
    case bits1024 = 0x31
    /// 2048 bits.
    case bits2048 = 0x32
    /// 4096 bits.
    case bits4096 = 0x34
    /// 8192 bits.
    case bits8192 = 0x38

    /// Bytes of the modulus: 128, 256, 512 or 1024.
    public var modulusByteCount: Int {
        switch self {
        case .bits1024: 128
        case .bits2048: 256
        case .bits4096: 512
        case .bits8192: 1024
        }
    }
}

/// What a key container holds: the meaning of its four-character tag.
public enum KeyKind: Sendable, Hashable {
    /// `UEC2`, `UEC3`, `UEC5`.
    case ecPublic(ECCurve)
    /// `REC2`, `REC3`, `REC5`.
    case ecPrivate(ECCurve)
    /// `URA1`, `URA2`, `URA4`, `URA8`.
    case rsaPublic(RSASize)
    /// `RRA1`, `RRA2`, `RRA4`, `RRA8`.
    case rsaPrivate(RSASize)

    init?(tag: ArraySlice<UInt8>) {
        guard let last = tag.last, tag.count == 4 else { return nil }
        let family = Array(tag.dropLast())
        let (curve, size) = (ECCurve(rawValue: last), RSASize(rawValue: last))
        if let curve, family == Self.ecPublicFamily {
            self = .ecPublic(curve)
        } else if let curve, family == Self.ecPrivateFamily {
            self = .ecPrivate(curve)
        } else if let size, family == Self.rsaPublicFamily {
            self = .rsaPublic(size)
        } else if let size, family == Self.rsaPrivateFamily {
            self = .rsaPrivate(size)
        } else {
            return nil
        }
    }

    /// Four ASCII characters.
    var tag: [UInt8] {
        switch self {
        case .ecPublic(let curve): Self.ecPublicFamily + [curve.rawValue]
        case .ecPrivate(let curve): Self.ecPrivateFamily + [curve.rawValue]
        case .rsaPublic(let size): Self.rsaPublicFamily + [size.rawValue]
        case .rsaPrivate(let size): Self.rsaPrivateFamily + [size.rawValue]
        }
    }

    /// The lengths a body may have: a point compressed or not, a scalar with its leading zero or without.
    var bodyByteCounts: [Int] {
        switch self {
        case .ecPublic(let curve): [1 + curve.fieldByteCount, 1 + 2 * curve.fieldByteCount]
        case .ecPrivate(let curve): [1 + curve.fieldByteCount, curve.fieldByteCount]
        case .rsaPublic(let size): [size.modulusByteCount + 4]
        case .rsaPrivate(let size): [size.modulusByteCount * 9 / 2 + 4]
        }
    }

    private static let ecPublicFamily = Array("UEC".utf8)
    private static let ecPrivateFamily = Array("REC".utf8)
    private static let rsaPublicFamily = Array("URA".utf8)
    private static let rsaPrivateFamily = Array("RRA".utf8)
}
