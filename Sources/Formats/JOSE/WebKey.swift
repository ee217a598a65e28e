// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import StrictJSON

/// A public P-256 key as a JSON Web Key.
///
/// Spec: RFC 7517, section 4; RFC 7518, section 6.2.1.
public struct WebKey: Sendable {
    /// The point: x and y, 32 bytes each, big-endian. It is on the curve.
    public let coordinates: [UInt8]
    /// The point as it was read, so that it need not be read again.
    private let point: P256.Signing.PublicKey?

    /// A point that is on the curve.
    init(coordinates: [UInt8]) { (self.coordinates, point) = (coordinates, nil) }

    /// Reads a key. Members that say what the key is for (`use`, `alg`, `kid`) are left to the caller.
    ///
    /// - Throws: ``WebKeyFault``. A retry cannot help.
    public init(_ object: JSONObject) throws(WebKeyFault) {
        guard object["d"] == nil else { throw .privateHalf }
        guard object["kty"] == .string("EC"), object["crv"] == .string("P-256") else { throw .anotherKind }
        guard let x = Self.coordinate(object["x"]), let y = Self.coordinate(object["y"]) else { throw .coordinates }
        guard let key = try? P256.Signing.PublicKey(rawRepresentation: x + y) else { throw .notAPoint }
        (coordinates, point) = (x + y, key)
    }

    /// A signing key.
    public init(_ key: P256.Signing.PublicKey) { (coordinates, point) = (Array(key.rawRepresentation), key) }

    private static func coordinate(_ value: JSONValue?) -> [UInt8]? {
        guard let text = value?.string, let bytes = try? Base64URL.decode(text.utf8), bytes.count == 32 else {
            return nil
        }
        return bytes
    }

    /// The key for signatures; nil cannot happen, because every ``WebKey`` is a point of the curve.
    public var signingKey: P256.Signing.PublicKey? {
        point ?? (try? P256.Signing.PublicKey(rawRepresentation: coordinates))
    }

    /// The members that make the key, and no other.
    public var object: JSONObject {
        [
            "kty": .string("EC"), "crv": .string("P-256"), "x": .string(Self.text(coordinates.prefix(32))),
            "y": .string(Self.text(coordinates.suffix(32))),
        ]
    }

    private static func text(_ coordinate: ArraySlice<UInt8>) -> JSONText {
        JSONText(String(decoding: Base64URL.encode(Array(coordinate)), as: UTF8.self))
    }

    /// SHA-256 over the members that make the key, in order of their names: 32 bytes.
    ///
    /// Spec: RFC 7638, section 3.
    public var thumbprint: [UInt8] { Array(SHA256.hash(data: object.encoded)) }
}

extension WebKey: Hashable {
    /// Whether both are the same point.
    public static func == (first: WebKey, second: WebKey) -> Bool { first.coordinates == second.coordinates }
    /// By the point.
    public func hash(into hasher: inout Hasher) { hasher.combine(coordinates) }
}

/// Why a JSON object is not a public P-256 key. The sender has to correct it.
public enum WebKeyFault: Error, Hashable, Sendable {
    /// It has the private half, which must never be sent.
    case privateHalf
    /// Another type of key or another curve.
    case anotherKind
    /// A coordinate that is not 32 bytes in base64url.
    case coordinates
    /// The coordinates are not a point of the curve.
    case notAPoint
}
