public import CanonicalCoding
import Crypto

/// The public keys of one device. Their private halves are made on it and never leave it.
public struct DeviceKeys: Hashable, Sendable {
    /// 32 + 33 + 1216.
    public static let byteCount = 1281

    /// Ed25519, 32 bytes: what the device leaf in the log carries; signs requests.
    public let signing: [UInt8]
    /// P-256 for key agreement, 33 bytes, compressed (SEC 1, section 2.3.3).
    public let agreement: [UInt8]
    /// X-Wing (ML-KEM-768 + X25519), 1216 bytes: wraps that must outlive quantum computers.
    public let kem: [UInt8]

    /// Checks the lengths, that the P-256 bytes are a point of the curve, and that the Ed25519 bytes are a key for which not
    /// everybody can sign.
    ///
    /// - Throws: ``AccountStateError/invalidDeviceKey``.
    public init(signing: [UInt8], agreement: [UInt8], kem: [UInt8]) throws(AccountStateError) {
        do throws(Ed25519KeyError) { try Ed25519Key.check(signing) } catch { throw .invalidDeviceKey }
        guard kem.count == 1216, agreement.count == 33,
            (try? P256.KeyAgreement.PublicKey(compressedRepresentation: agreement)) != nil
        else { throw .invalidDeviceKey }
        self.signing = signing
        self.agreement = agreement
        self.kem = kem
    }

    /// The three keys one after the other, ``byteCount`` bytes.
    public var encoded: [UInt8] { signing + agreement + kem }

    /// SHA-256 of ``encoded``, 32 bytes.
    public var hash: [UInt8] { Array(SHA256.hash(data: encoded)) }

    /// Reads ``byteCount`` bytes from the reader's position.
    ///
    /// - Throws: ``AccountStateError``: cut short, or not keys.
    public init(from reader: inout ByteReader) throws(AccountStateError) {
        do {
            let signing = Array(try reader.bytes(32))
            let agreement = Array(try reader.bytes(33))
            let kem = Array(try reader.bytes(1216))
            try self.init(signing: signing, agreement: agreement, kem: kem)
        } catch let error as CanonicalCodingError {
            throw .malformed(error)
        } catch {
            throw .invalidDeviceKey
        }
    }
}

/// One device of an account as its state lists it.
public struct DeviceRecord: Hashable, Sendable {
    /// The owner's running number for the device, from 1, never used twice.
    public let number: UInt16
    /// When the owner added it, in seconds since 1970-01-01T00:00:00Z.
    public let addedAt: UInt64
    /// Its public keys.
    public let keys: DeviceKeys

    /// A device with its keys.
    public init(number: UInt16, addedAt: UInt64, keys: DeviceKeys) {
        self.number = number
        self.addedAt = addedAt
        self.keys = keys
    }
}
