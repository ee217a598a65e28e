// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto

/// A request signed by a device key: header `Signet-Signature`, over method, path, directory, time,
/// nonce and body.
///
/// Header value: `v1 KEY TIME NONCE SIGNATURE`, single spaces; base64 of the 32-byte Ed25519 key,
/// decimal seconds since 1970, base64 of 16 random bytes, base64 of the 64-byte signature.
public struct RequestSignature: Hashable, Sendable {
    /// The header's name.
    public static let headerName = "Signet-Signature"
    /// How far the request's time may be from the server's clock, in seconds, either way.
    public static let maximumClockDifference: UInt64 = 300

    /// The device's Ed25519 key, 32 bytes.
    public let deviceKey: [UInt8]
    /// When it was signed, in seconds since 1970.
    public let time: UInt64
    /// 16 random bytes; the server takes each once.
    public let nonce: [UInt8]
    /// Ed25519, 64 bytes.
    public let signature: [UInt8]

    /// What is signed.
    public struct Content: Hashable, Sendable {
        /// `GET` or `POST`.
        public let method: String
        /// The path as sent.
        public let path: String
        /// The log origin of the directory that is asked, so that no other server can use the request.
        public let origin: [UInt8]
        /// The body as sent.
        public let body: [UInt8]

        /// The parts of a request that a signature covers.
        public init(method: String, path: String, origin: [UInt8], body: [UInt8]) {
            self.method = method
            self.path = path
            self.origin = origin
            self.body = body
        }

        /// The content of a call of a route.
        public init(_ route: Route, origin: [UInt8], body: [UInt8]) {
            self.init(method: route.method, path: route.path, origin: origin, body: body)
        }
    }

    /// Signs a request.
    ///
    /// - Parameters:
    ///   - nonce: 16 fresh random bytes.
    ///   - sign: gives the 64-byte Ed25519 signature of `deviceKey` over the bytes passed.
    public init<E: Error>(
        _ content: Content, deviceKey: [UInt8], time: UInt64, nonce: [UInt8],
        sign: ([UInt8]) throws(E) -> [UInt8]
    ) throws(E) {
        self.deviceKey = deviceKey
        self.time = time
        self.nonce = nonce
        signature = try sign(
            Self.message(content, deviceKey: deviceKey, time: time, nonce: nonce))
    }

    /// The header's value.
    public var headerValue: [UInt8] {
        Array(
            [
                Self.version, Base64.encode(deviceKey), Decimal.encode(time), Base64.encode(nonce),
                Base64.encode(signature),
            ].joined(separator: [UInt8(ascii: " ")]))
    }

    /// Reads a header's value.
    ///
    /// - Throws: ``RequestSignatureError``: not exactly what ``headerValue`` prints.
    public init(headerValue: [UInt8]) throws(RequestSignatureError) {
        let parts = headerValue.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].elementsEqual(Self.version) else { throw .unknownFormat }
        do {
            deviceKey = try Base64.decode(parts[1])
            time = try Decimal.decode(parts[2])
            nonce = try Base64.decode(parts[3])
            signature = try Base64.decode(parts[4])
        } catch { throw .malformed(error) }
        guard deviceKey.count == 32, nonce.count == 16, signature.count == 64 else {
            throw .unknownFormat
        }
    }

    /// Checks signature and time. That the nonce is new and the key a device's is the server's to check.
    ///
    /// - Parameter now: the server's clock, in seconds since 1970.
    /// - Throws: ``RequestSignatureError``. A retry helps only after ``RequestSignatureError/wrongTime``.
    public func verify(_ content: Content, at now: UInt64) throws(RequestSignatureError) {
        try checkTime(at: now)
        try verify(content)
    }

    /// Checks the signature alone. A request of any age passes.
    ///
    /// - Throws: ``RequestSignatureError/invalidSignature``.
    package func verify(_ content: Content) throws(RequestSignatureError) {
        let message = Self.message(content, deviceKey: deviceKey, time: time, nonce: nonce)
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: deviceKey),
            key.isValidSignature(signature, for: message)
        else { throw .invalidSignature }
    }

    /// Checks the time alone, which needs no body.
    ///
    /// - Parameter now: the server's clock, in seconds since 1970.
    /// - Throws: ``RequestSignatureError/wrongTime``.
    public func checkTime(at now: UInt64) throws(RequestSignatureError) {
        let difference = now > time ? now - time : time - now
        guard difference <= Self.maximumClockDifference else { throw .wrongTime }
    }

    private static let version = Array("v1".utf8)

    private static func message(
        _ content: Content, deviceKey: [UInt8], time: UInt64, nonce: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        for line in [
            Array("signet-request/v1".utf8), Array(content.method.utf8), Array(content.path.utf8),
            content.origin, Base64.encode(deviceKey), Decimal.encode(time), Base64.encode(nonce),
            Base64.encode(Array(SHA256.hash(data: content.body))),
        ] {
            writer.write(line)
            writer.write(UInt8(ascii: "\n"))
        }
        return writer.bytes
    }
}

/// Why a signed request is refused.
public enum RequestSignatureError: Error, Hashable, Sendable {
    /// Not five parts, another version, or a part of another length.
    case unknownFormat
    /// A part is not canonical.
    case malformed(CanonicalCodingError)
    /// The request's time is more than five minutes from the server's.
    case wrongTime
    /// The key did not sign this request.
    case invalidSignature
}
