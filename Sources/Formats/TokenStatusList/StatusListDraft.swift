// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import JOSE
import StrictJSON

/// A status list that its issuer keeps and has not signed yet.
///
/// Spec: draft-ietf-oauth-status-list, sections 4.1, 4.2 and 5.1.
///
/// Security: the issuer must take entries at random from a long list, because otherwise the list reveals how many
/// credentials there are and in which order they were issued. Each copy of a credential needs an entry of its own,
/// because otherwise the sites that see two copies can link them.
public struct StatusListDraft: Sendable {
    /// 1, 2, 4 or 8.
    public let bitsPerEntry: Int
    /// How many entries the list has.
    public let count: Int64
    /// The entries, the first one in the lowest bits of each byte.
    private(set) var bytes: [UInt8]

    /// A list in which every entry is 0, which means valid.
    ///
    /// - Parameter count: the number of entries. They must fill their last byte, and take at most 64 MiB.
    /// - Throws: ``StatusListDraftFault/bits``, ``StatusListDraftFault/count``: a mistake of the caller.
    public init(bitsPerEntry: Int = 1, count: Int64) throws(StatusListDraftFault) {
        guard [1, 2, 4, 8].contains(bitsPerEntry) else { throw .bits }
        let perByte = Int64(8 / bitsPerEntry)
        guard count > 0, count.isMultiple(of: perByte), count / perByte <= 1 << 26 else { throw .count }
        (self.bitsPerEntry, self.count) = (bitsPerEntry, count)
        bytes = [UInt8](repeating: 0, count: Int(count / perByte))
    }

    /// Sets the status of an entry: 0 is valid, 1 withdrawn, 2 suspended; the issuer and its verifiers agree on the
    /// rest.
    ///
    /// - Throws: ``StatusListDraftFault/index``, ``StatusListDraftFault/status``: a mistake of the caller.
    public mutating func set(_ status: UInt8, at index: Int64) throws(StatusListDraftFault) {
        guard (0..<count).contains(index) else { throw .index }
        let mask = UInt8(truncatingIfNeeded: 1 << bitsPerEntry - 1)
        guard status <= mask else { throw .status }
        let perByte = Int64(8 / bitsPerEntry)
        let shift = UInt8(index % perByte) * UInt8(bitsPerEntry)
        bytes[Int(index / perByte)] = bytes[Int(index / perByte)] & ~(mask << shift) | status << shift
    }

    /// The signed list in JWT form.
    ///
    /// - Parameters:
    ///   - reference: the reference of any credential of the list; its address becomes the list's subject.
    ///   - now: seconds since 1970.
    ///   - lifetime: the number of seconds after which the list expires, at least 1.
    ///   - sign: gives r and s of the issuer's ECDSA signature over SHA-256 of the bytes.
    /// - Throws: what `sign` throws.
    public func signed<Failure: Error>(
        for reference: StatusReference, at now: Int64, lifetime: Int64 = 86_400,
        sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        let stream = JSONText(String(decoding: Base64URL.encode(ZlibStream.deflated(bytes)), as: UTF8.self))
        let lifetime = max(1, lifetime)
        let payload: JSONObject = [
            "sub": .string(reference.uri), "iat": .integer(now), "exp": .integer(now + lifetime),
            "ttl": .integer(lifetime),
            "status_list": .object(["bits": .integer(Int64(bitsPerEntry)), "lst": .string(stream)]),
        ]
        return try SignedToken.encoded(
            header: ["alg": .string("ES256"), "typ": .string("statuslist+jwt")], payload: payload.encoded, sign: sign)
    }
}

/// Why a list cannot be made or changed: a mistake of the caller.
public enum StatusListDraftFault: Error, Hashable, Sendable {
    /// An entry does not have 1, 2, 4 or 8 bits.
    case bits
    /// There are no entries, too many, or not enough to fill the last byte.
    case count
    /// The list has no such entry.
    case index
    /// The status is too large for an entry.
    case status
}
