// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// How a secret is wrapped for a device.
public enum WrapForm: UInt8, Hashable, Sendable, CaseIterable {
    /// HPKE, DHKEM(P-256) with AES-256-GCM: what Signet sends.
    case hpkeP256 = 1
    /// ECDH on P-256, then AES-GCM: the first form of the eCall guide.
    case legacyP256 = 2
    /// RSA-2048-OAEP with SHA-256: its second.
    case legacyRSA = 3
}

/// The secret of an epoch, for one device. The relay and all others see bytes.
///
/// Wire form: 32-byte key of the device, epoch (9), u8 form, u16 length, that many bytes.
public struct KeyWrap: Hashable, Sendable {
    /// The longest wrap, in bytes.
    public static let maximumByteCount = 512

    /// For whom.
    public let recipient: CallDevice
    /// The secret of which epoch.
    public let epoch: Epoch
    /// How it is wrapped.
    public let form: WrapForm
    /// The wrapped secret, at most ``maximumByteCount`` bytes.
    public let bytes: [UInt8]

    /// A wrap.
    public init(recipient: CallDevice, epoch: Epoch, form: WrapForm, bytes: [UInt8]) {
        self.recipient = recipient
        self.epoch = epoch
        self.form = form
        self.bytes = bytes
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        do throws(CanonicalCodingError) { recipient = try CallDevice(from: &reader) } catch { throw .malformed(error) }
        epoch = try Epoch(from: &reader)
        let rawForm: UInt8
        do throws(CanonicalCodingError) {
            rawForm = try reader.uint8()
            bytes = Array(try reader.bytes(Int(reader.uint16())))
        } catch { throw .malformed(error) }
        guard let form = WrapForm(rawValue: rawForm) else { throw .unknownWrapForm(rawForm) }
        guard bytes.count <= Self.maximumByteCount else { throw .wrapTooLong(bytes.count) }
        self.form = form
    }

    func write(to writer: inout ByteWriter) {
        writer.write(recipient.signingKey)
        epoch.write(to: &writer)
        writer.write(form.rawValue)
        writer.write(UInt16(truncatingIfNeeded: bytes.count))
        writer.write(bytes)
    }

    static func readList(from reader: inout ByteReader) throws(SignalDecodingError) -> [KeyWrap] {
        let count: UInt16
        do throws(CanonicalCodingError) { count = try reader.uint16() } catch { throw .malformed(error) }
        var wraps: [KeyWrap] = []
        for _ in 0..<count { wraps.append(try KeyWrap(from: &reader)) }
        return wraps
    }

    static func write(_ wraps: [KeyWrap], to writer: inout ByteWriter) {
        writer.write(UInt16(truncatingIfNeeded: wraps.count))
        for wrap in wraps { wrap.write(to: &writer) }
    }
}
