// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency
import TransparencyLog

/// The new device's numbers for the spoken code: one for each place that a guardian may have, all of them fixed by one
/// root before any guardian is asked.
///
/// Each guardian is shown the number of their own place and no other, so that what one guardian was shown does not help
/// to guess another guardian's code.
public struct SpokenNumbers: Sendable {
    /// A guardian's packet names one of so many places.
    public static let placeCount = 256
    /// The length of ``init(seed:)``'s bytes.
    public static let seedByteCount = 32
    private let seed: [UInt8]
    /// Each level of the tree, from the leaves up.
    private let levels: [[TreeHash]]

    /// The numbers that follow from a seed.
    ///
    /// - Parameter seed: 32 random bytes, drawn for one request.
    public init(seed: [UInt8]) {
        self.seed = seed
        var level = (0..<Self.placeCount).map { SpokenReveal.leaf(UInt8($0), Self.number(UInt8($0), seed)) }
        var levels = [level]
        while level.count > 1 {
            level = stride(from: 0, to: level.count, by: 2).map { .node(level[$0], level[$0 + 1]) }
            levels.append(level)
        }
        self.levels = levels
    }

    /// What the request commits to, 32 bytes: the RFC 6962 root over all places.
    public var root: [UInt8] { levels[levels.count - 1][0].bytes }

    /// The number of one place, with its path to the root.
    public func reveal(at place: UInt8) -> SpokenReveal {
        let path = levels.dropLast().enumerated().map { height, level in level[Int(place) >> height ^ 1] }
        return SpokenReveal(place: place, number: Self.number(place, seed), path: path)
    }

    private static func number(_ place: UInt8, _ seed: [UInt8]) -> [UInt8] {
        var code = HMAC<SHA256>(key: SymmetricKey(data: seed))
        code.update(data: Array("signet-spoken-number/v1\n".utf8) + [place])
        return Array(code.finalize())
    }
}

/// The number of one place, shown to the guardian who has that place.
///
/// Wire form, 289 bytes: u8 place, 32-byte number, eight hashes of 32 bytes from the leaf up. A leaf is the RFC 6962 hash of
/// `signet-spoken-place/v1` LF, place and number.
public struct SpokenReveal: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 1 + SpokenCode.numberByteCount + pathCount * TreeHash.byteCount
    private static let pathCount = 8

    /// Whose.
    public let place: UInt8
    /// 32 bytes.
    public let number: [UInt8]
    private let path: [TreeHash]

    init(place: UInt8, number: [UInt8], path: [TreeHash]) {
        self.place = place
        self.number = number
        self.path = path
    }

    /// Whether a request committed to this number at this place.
    ///
    /// - Parameter root: the request's ``RecoveryRequest/revealRoot``, 32 bytes.
    public func isCommitted(by root: [UInt8]) -> Bool {
        guard let root = TreeHash(root) else { return false }
        let head = TreeHead(size: UInt64(SpokenNumbers.placeCount), root: root)
        let proof = InclusionProof(index: UInt64(place), hashes: path)
        return (try? proof.verify(leaf: Self.leaf(place, number), in: head)) != nil
    }

    static func leaf(_ place: UInt8, _ number: [UInt8]) -> TreeHash {
        .leaf(Array("signet-spoken-place/v1\n".utf8) + [place] + number)
    }

    /// The wire form.
    public var encoded: [UInt8] { [place] + number + path.flatMap(\.bytes) }

    /// Reads reveals one after the other.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public static func list(decoding bytes: [UInt8]) throws(RecoveryFormatError) -> [SpokenReveal] {
        try RecoveryFormat.read(bytes, "") { reader in
            var reveals: [SpokenReveal] = []
            while reader.offset < bytes.count { reveals.append(try SpokenReveal(from: &reader)) }
            return reveals
        }
    }

    private init(from reader: inout ByteReader) throws {
        place = try reader.uint8()
        number = try reader.array(SpokenCode.numberByteCount)
        var path: [TreeHash] = []
        for _ in 0..<Self.pathCount {
            guard let hash = TreeHash(try reader.array(TreeHash.byteCount)) else {
                throw RecoveryFormatError.invalidField
            }
            path.append(hash)
        }
        self.path = path
    }
}

/// A guardian's number for the spoken code, for one request, signed by the guardian's device.
///
/// The new device takes one number of each guardian, verifies it and keeps it, before it shows that guardian its own.
///
/// Wire form, 97 bytes: u8 place, 32-byte number, 64-byte Ed25519 signature over `signet-guardian-number/v1` LF, 32-byte hash
/// of the request, u8 length and guardian's handle, place and number.
public struct GuardianNumber: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 1 + SpokenCode.numberByteCount + 64
    /// The place that the guardian's packet names.
    public let place: UInt8
    /// 32 bytes.
    public let number: [UInt8]
    let signature: [UInt8]

    /// Nil when `sign` fails.
    ///
    /// - Parameter sign: signs with the guardian's device key, 64 bytes.
    init?(
        _ number: [UInt8], at place: UInt8, for request: [UInt8], by guardian: Handle,
        signing sign: ([UInt8]) throws -> [UInt8]
    ) {
        self.place = place
        self.number = number
        guard let signature = try? sign(Self.statement(request, guardian, place, number)), signature.count == 64 else {
            return nil
        }
        self.signature = signature
    }

    /// Whether one of a guardian's devices signed it for a request.
    ///
    /// - Parameters:
    ///   - request: the request's hash, 32 bytes.
    ///   - devices: as a verified lookup lists them.
    public func isSigned(for request: [UInt8], by guardian: Handle, _ devices: [DeviceRecord]) -> Bool {
        let statement = Self.statement(request, guardian, place, number)
        return devices.contains { device in
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: device.keys.signing)
            return key?.isValidSignature(signature, for: statement) ?? false
        }
    }

    /// The wire form.
    public var encoded: [UInt8] { [place] + number + signature }

    /// Reads the wire form; ``isSigned(for:by:_:)`` verifies.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, "") { reader in try GuardianNumber(from: &reader) }
    }

    init(from reader: inout ByteReader) throws {
        place = try reader.uint8()
        number = try reader.array(SpokenCode.numberByteCount)
        signature = try reader.array(64)
    }

    private static func statement(
        _ request: [UInt8], _ guardian: Handle, _ place: UInt8, _ number: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-guardian-number/v1\n")
        writer.write(request)
        writer.short(guardian.bytes)
        writer.write(place)
        writer.write(number)
        return writer.bytes
    }
}
