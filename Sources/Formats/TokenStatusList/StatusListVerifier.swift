// SPDX-License-Identifier: Apache-2.0

public import Crypto
import JOSE
import StrictJSON

/// How old and how large a list may be.
public struct StatusListLimits: Hashable, Sendable {
    /// Seconds since it was issued.
    public let maximumAge: Int64
    /// Bytes of entries after inflating; a byte has 8, 4, 2 entries or 1.
    public let maximumByteCount: Int

    /// Limits. 1 MiB has room for eight million entries of one bit.
    public init(maximumAge: Int64 = 86_400, maximumByteCount: Int = 1 << 20) {
        self.maximumAge = maximumAge
        self.maximumByteCount = min(max(0, maximumByteCount), 1 << 26)
    }

    /// What a list of that size may have as a token: base64url twice, and room for everything else.
    var tokenByteCount: Int { 65_536 + 2 * maximumByteCount }
}

/// Decides whether a status list is the current one of an issuer. This page is the whole decision.
///
/// Spec: draft-ietf-oauth-status-list, sections 5.1 and 8.3; RFC 1950 for the list itself.
public enum StatusListVerifier {
    /// Judges a list in JWT form.
    ///
    /// - Parameters:
    ///   - text: the token.
    ///   - reference: what the credential says of its status; the index is not looked at here.
    ///   - key: the key of the credential's issuer, or of whom the issuer lets keep its lists.
    ///   - now: seconds since 1970.
    /// - Throws: ``StatusFault``, the first check that fails. A newer copy of the list may pass.
    public static func verify(
        _ text: [UInt8], for reference: StatusReference, signedBy key: P256.Signing.PublicKey,
        limits: StatusListLimits = StatusListLimits(), at now: Int64
    ) throws(StatusFault) -> VerifiedStatusList {
        let token = try token(text, limits)  // section 5.1
        try checkHeader(token)  // section 5.1; RFC 7515, section 4.1.11
        try checkSignature(token, key)  // section 8.3, step 2
        let payload = try payload(token, limits)  // section 8.3, step 2
        try checkSubject(payload, reference)  // section 8.3, step 3.a
        try checkExpiry(payload, now)  // section 8.3, step 3.b
        try checkAge(payload, limits, now)  // section 5.1 (iat); section 13.7
        try checkTimeToLive(payload)  // section 8.3, step 3.c
        let bitsPerEntry = try bitsPerEntry(payload)  // section 4.2
        let entries = try entries(payload, limits)  // section 4.1, RFC 1950
        return VerifiedStatusList(bitsPerEntry: bitsPerEntry, entries: entries)
    }
}

/// A list that passed every check of ``StatusListVerifier``.
public struct VerifiedStatusList: Sendable {
    /// 1, 2, 4 or 8.
    public let bitsPerEntry: Int
    private let entries: [UInt8]

    init(bitsPerEntry: Int, entries: [UInt8]) {
        self.bitsPerEntry = bitsPerEntry
        self.entries = entries
    }

    /// The status at an index: 0 valid, 1 withdrawn, 2 suspended, everything else by agreement.
    ///
    /// Spec: draft-ietf-oauth-status-list, sections 4.1 and 7.1. The first entry is in the lowest bits of the first byte.
    ///
    /// - Throws: ``StatusFault/index``. What has no entry is not valid.
    public func status(at index: Int64) throws(StatusFault) -> UInt8 {
        let perByte = Int64(8 / bitsPerEntry)
        guard index >= 0, index / perByte < Int64(entries.count) else { throw .index }
        let shift = UInt8(index % perByte) * UInt8(bitsPerEntry)
        return entries[Int(index / perByte)] >> shift & UInt8(truncatingIfNeeded: 1 << bitsPerEntry - 1)
    }
}
