// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import JOSE
import StrictJSON

/// A status list as its issuer keeps it, before it is signed.
///
/// Spec: draft-ietf-oauth-status-list, sections 4.1, 4.2 and 5.1.
///
/// Security: the issuer takes entries at random from many, or the list says how many credentials there are and in which
/// order they were issued; each copy of a credential needs an entry of its own, or the sites that see it can link them.
public struct StatusListDraft: Sendable {
    /// 1, 2, 4 or 8.
    public let bitsPerEntry: Int
    /// How many entries the list has.
    public let count: Int64
    /// The entries, from the lowest bits of each byte on.
    private(set) var bytes: [UInt8]

    /// A list of entries that are all 0: valid.
    ///
    /// - Parameter count: a whole number of bytes full, from 1 to 64 MiB of them; more than anybody needs is refused.
    /// - Throws: ``StatusListDraftFault/bits``, ``StatusListDraftFault/count``: a mistake of the caller.
    public init(bitsPerEntry: Int = 1, count: Int64) throws(StatusListDraftFault) {
        guard [1, 2, 4, 8].contains(bitsPerEntry) else { throw .bits }
        let perByte = Int64(8 / bitsPerEntry)
        guard count > 0, count.isMultiple(of: perByte), count / perByte <= 1 << 26 else { throw .count }
        (self.bitsPerEntry, self.count) = (bitsPerEntry, count)
        bytes = [UInt8](repeating: 0, count: Int(count / perByte))
    }

    /// Sets the status of an entry: 0 valid, 1 withdrawn, 2 suspended, everything else by agreement.
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

    /// The list in JWT form, signed.
    ///
    /// - Parameters:
    ///   - reference: of any credential of the list; its address becomes the subject.
    ///   - now: seconds since 1970.
    ///   - lifetime: after so many seconds the list counts as expired, at least 1.
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

/// Why a list cannot be made so: a mistake of the caller.
public enum StatusListDraftFault: Error, Hashable, Sendable {
    /// Entries of a size other than 1, 2, 4 or 8 bits.
    case bits
    /// No entries, entries that do not fill their last byte, or too many.
    case count
    /// The list has no such entry.
    case index
    /// A status that does not fit an entry.
    case status
}
