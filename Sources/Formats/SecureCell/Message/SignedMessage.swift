// SPDX-License-Identifier: Apache-2.0

/// Secure Message, signed: the message in clear with a signature after it.
///
/// Wire form, little-endian: u32 type (0x26042620 EC, 0x26042610 RSA), u32 message length, u32 signature length,
/// message, signature. EC: ECDSA over SHA-256 on every curve, DER. RSA: PSS with SHA-256, MGF1-SHA-256, any salt.
///
/// Spec: Themis 0.15, Secure Message; FIPS 186-5; RFC 8017, section 8.1.2.
///
/// Security: the signature covers the message alone, no context, recipient or time: it holds wherever the message
/// is put. ECDSA signatures come in two forms (s and n−s), so the bytes of a signed message identify nothing.
public enum SignedMessage {
    /// Signs 1 to 2³²−1 bytes.
    ///
    /// - Throws: ``MessageError``: the caller's mistake.
    public static func sign(_ message: [UInt8], by key: ECPrivateKey) throws(MessageError) -> [UInt8] {
        guard !message.isEmpty else { throw .emptyMessage }
        guard let length = UInt32(exactly: message.count) else { throw .messageTooLong(message.count) }
        guard let signature = try? key.signature(over: message) else { throw .cipherFailed }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(12 + message.count + signature.count)
        bytes.appendLittleEndian(MessageType.ecSigned.rawValue)
        bytes.appendLittleEndian(length)
        bytes.appendLittleEndian(UInt32(truncatingIfNeeded: signature.count))
        bytes.append(contentsOf: message)
        bytes.append(contentsOf: signature)
        return bytes
    }

    /// The message, if the owner of `key` signed it.
    ///
    /// - Throws: ``MessageError``: ``MessageError/wrongType(_:)``, ``MessageError/malformed`` or
    ///   ``MessageError/invalidSignature``.
    public static func verify(
        _ signed: [UInt8], by key: ECPublicKey, reading: ReadingMode = .strict
    ) throws(MessageError) -> [UInt8] {
        let (message, signature) = try split(signed, .ecSigned, reading)
        guard key.isValid(signature, over: message) else { throw .invalidSignature }
        return Array(message)
    }

    /// The message, if the owner of `key` signed it.
    ///
    /// - Throws: ``MessageError``: ``MessageError/wrongType(_:)``, ``MessageError/malformed`` or
    ///   ``MessageError/invalidSignature``.
    public static func verify(
        _ signed: [UInt8], by key: RSAPublicKey, reading: ReadingMode = .strict
    ) throws(MessageError) -> [UInt8] {
        let (message, signature) = try split(signed, .rsaSigned, reading)
        guard PSS.isValid(signature, over: message, by: key) else { throw .invalidSignature }
        return Array(message)
    }

    private static func split(
        _ signed: [UInt8], _ type: MessageType, _ reading: ReadingMode
    ) throws(MessageError) -> (message: ArraySlice<UInt8>, signature: ArraySlice<UInt8>) {
        var reader = LittleEndianReader(signed[...])
        guard let found = reader.uint32() else { throw .malformed }
        guard found == type.rawValue else { throw .wrongType(found) }
        guard let messageLength = reader.uint32(), let signatureLength = reader.uint32(), messageLength > 0,
            let message = reader.bytes(Int(messageLength)), let signature = reader.bytes(Int(signatureLength)),
            reading == .compatible || reader.rest.isEmpty
        else { throw .malformed }
        return (message, signature)
    }
}
