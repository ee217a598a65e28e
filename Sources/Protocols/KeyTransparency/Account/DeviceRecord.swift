// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto

/// The public keys of one device. Their private halves are made on it and never leave it.
public struct DeviceKeys: Hashable, Sendable {
    /// 32 + 33 + 1216.
    public static let byteCount = 1281
    /// The length of an X-Wing key.
    public static let kemByteCount = 1216

    /// Ed25519, 32 bytes: what the device leaf in the log carries; signs requests.
    public let signing: [UInt8]
    /// P-256 for key agreement, 33 bytes, compressed (SEC 1, section 2.3.3).
    public let agreement: [UInt8]
    /// X-Wing (ML-KEM-768 + X25519), 1216 bytes: wraps that must outlive quantum computers.
    public let kem: [UInt8]

    /// Checks the lengths, that the P-256 bytes are a point of the curve, and that the Ed25519 bytes are not a key for
    /// which anyone can sign.
    ///
    /// - Throws: ``AccountStateError/invalidDeviceKey``.
    public init(signing: [UInt8], agreement: [UInt8], kem: [UInt8]) throws(AccountStateError) {
        try Self.check(signing: signing, agreement: agreement)
        guard kem.count == Self.kemByteCount else { throw .invalidDeviceKey }
        self.signing = signing
        self.agreement = agreement
        self.kem = kem
    }

    static func check(signing: [UInt8], agreement: [UInt8]) throws(AccountStateError) {
        do throws(Ed25519KeyError) { try Ed25519Key.check(signing) } catch { throw .invalidDeviceKey }
        guard agreement.count == 33,
            (try? P256.KeyAgreement.PublicKey(compressedRepresentation: agreement)) != nil
        else { throw .invalidDeviceKey }
    }

    /// The three keys one after the other, ``byteCount`` bytes.
    public var encoded: [UInt8] { signing + agreement + kem }

    /// SHA-256 of ``encoded``, 32 bytes.
    public var hash: [UInt8] { Array(SHA256.hash(data: encoded)) }

    /// Reads ``byteCount`` bytes from the reader's position.
    ///
    /// - Throws: ``AccountStateError``: cut short, or not keys.
    public init(from reader: inout ByteReader) throws(AccountStateError) {
        let (signing, agreement, kem): ([UInt8], [UInt8], [UInt8])
        do throws(CanonicalCodingError) {
            signing = Array(try reader.bytes(32))
            agreement = Array(try reader.bytes(33))
            kem = Array(try reader.bytes(1216))
        } catch { throw .malformed(error) }
        try self.init(signing: signing, agreement: agreement, kem: kem)
    }
}

/// The public keys of a device as an account state lists them: the two short ones, and all three by their hash.
///
/// A state of the first version has the X-Wing key in it. One of the second has the hash alone, and the key comes beside it
/// when it is asked for: it is nine tenths of the state, and who holds it once can tell by the hash that it is still the one.
public struct ListedKeys: Sendable {
    /// 32 + 33 + 32: what a state of the second version has of a device.
    public static let byteCount = 97

    /// Ed25519, 32 bytes: what the device leaf in the log carries; signs requests.
    public let signing: [UInt8]
    /// P-256 for key agreement, 33 bytes, compressed.
    public let agreement: [UInt8]
    /// ``DeviceKeys/hash``, 32 bytes.
    public let hash: [UInt8]
    /// X-Wing, 1216 bytes; nil when it was not sent.
    public let kem: [UInt8]?

    /// All keys of a device.
    public init(_ keys: DeviceKeys) {
        (signing, agreement, hash, kem) = (keys.signing, keys.agreement, keys.hash, keys.kem)
    }

    /// Keys whose two short ones were checked.
    private init(signing: [UInt8], agreement: [UInt8], hash: [UInt8]) {
        (self.signing, self.agreement, self.hash, kem) = (signing, agreement, hash, nil)
    }

    /// All keys of the device; nil when the X-Wing key was not sent.
    public var complete: DeviceKeys? {
        kem.flatMap { try? DeviceKeys(signing: signing, agreement: agreement, kem: $0) }
    }

    /// The same keys with the X-Wing key.
    ///
    /// - Returns: nil if the three do not have the hash that was listed.
    func with(kem: [UInt8]) -> ListedKeys? {
        guard let keys = try? DeviceKeys(signing: signing, agreement: agreement, kem: kem), keys.hash == hash else {
            return nil
        }
        return ListedKeys(keys)
    }

    /// The same keys without it.
    var withoutKEM: ListedKeys { ListedKeys(signing: signing, agreement: agreement, hash: hash) }

    /// The two short keys and the hash, ``byteCount`` bytes.
    var encoded: [UInt8] { signing + agreement + hash }

    /// All three keys, as a state of the first version has them.
    var allEncoded: [UInt8] { signing + agreement + (kem ?? []) }

    /// Reads ``byteCount`` bytes from the reader's position.
    ///
    /// - Throws: ``AccountStateError``: cut short, or not keys.
    init(from reader: inout FormatReader<AccountStateError>) throws(AccountStateError) {
        let (signing, agreement) = (Array(try reader.bytes(32)), Array(try reader.bytes(33)))
        try DeviceKeys.check(signing: signing, agreement: agreement)
        self.init(signing: signing, agreement: agreement, hash: Array(try reader.bytes(32)))
    }
}

/// The hash says which keys they are, whether or not the X-Wing key was sent.
extension ListedKeys: Hashable {
    /// Whether both list the same keys.
    public static func == (one: ListedKeys, other: ListedKeys) -> Bool { one.encoded == other.encoded }

    /// Feeds what is listed.
    public func hash(into hasher: inout Hasher) { hasher.combine(encoded) }
}

extension DeviceKeys {
    /// The keys as a state lists them.
    public var listed: ListedKeys { ListedKeys(self) }
}

/// One device of an account as its state lists it.
public struct DeviceRecord: Hashable, Sendable {
    /// The owner's running number for the device, from 1, never used twice.
    public let number: UInt16
    /// When the owner added it, in seconds since 1970-01-01T00:00:00Z.
    public let addedAt: UInt64
    /// Its public keys.
    public let keys: ListedKeys

    /// A device with its keys.
    public init(number: UInt16, addedAt: UInt64, keys: DeviceKeys) {
        self.init(number: number, addedAt: addedAt, listed: ListedKeys(keys))
    }

    package init(number: UInt16, addedAt: UInt64, listed: ListedKeys) {
        self.number = number
        self.addedAt = addedAt
        keys = listed
    }

    /// The device as a state that hashes the keys has it.
    var withoutKEM: DeviceRecord { DeviceRecord(number: number, addedAt: addedAt, listed: keys.withoutKEM) }
}
