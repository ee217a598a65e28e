// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import KeyTransparency

/// A text that two people signed to say that they met on a day. It exists only if both asked for it, each on their own device.
///
/// ```
/// signet-meeting/v1
/// <day, counted from 1970-01-01>
/// <base64 of a 16-byte number of this meeting>
/// alice@example.org
/// <base64 of alice's 33-byte identity key>
/// bob@example.org
/// <base64 of bob's>
/// <base64 of the 64-byte signature of the first person>
/// <base64 of that of the second>
/// ```
/// Every line ends in LF. The person whose key is smaller, byte by byte, comes first. Both sign (ECDSA on P-256 with SHA-256, r || s)
/// the first seven lines.
///
/// Security: unlike a ``MeetingRecord``, it can be shown to anybody, by either of the two and by whoever gets hold of it. It proves that the
/// holders of the two keys agreed to sign; not that they were in one place, nor that the keys are those of the named people, which the
/// directory has to prove.
public struct MeetingReceipt: Hashable, Sendable {
    /// The longest receipt, in bytes.
    public static let maximumByteCount = 1024

    /// The day, counted from 1970-01-01, by the host's clock.
    public let day: UInt64
    /// 16 bytes that no other meeting has.
    public let number: [UInt8]
    /// The two people with their identity keys, 33 bytes each, in rising order of key.
    public let people: [Party]
    /// Theirs, 64 bytes each.
    public let signatures: [[UInt8]]

    /// One of the two.
    public struct Party: Hashable, Sendable {
        /// Their handle.
        public let handle: Handle
        /// Their identity key, 33 bytes.
        public let identityKey: [UInt8]
    }

    private static let firstLine = Array("signet-meeting/v1".utf8)

    /// The text.
    public var encoded: [UInt8] {
        Self.statement(day, number, people) + signatures.flatMap { Base64.encode($0) + [UInt8(ascii: "\n")] }
    }

    static func statement(_ day: UInt64, _ number: [UInt8], _ people: [Party]) -> [UInt8] {
        let lines =
            [firstLine, Decimal.encode(day), Base64.encode(number)]
            + people.flatMap { [$0.handle.bytes, Base64.encode($0.identityKey)] }
        return lines.flatMap { $0 + [UInt8(ascii: "\n")] }
    }

    /// Reads a receipt and checks both signatures.
    ///
    /// - Throws: ``MeetingError``: `malformed`, `invalidSignature`.
    public init(decoding bytes: [UInt8]) throws(MeetingError) {
        guard bytes.count <= Self.maximumByteCount else { throw .malformed }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count == 10, lines[0] == Self.firstLine[...], lines[9].isEmpty else { throw .malformed }
        do {
            day = try Decimal.decode(lines[1])
            number = try Base64.decode(lines[2])
            people = try [3, 5].map { line in
                Party(
                    handle: try Handle(canonical: Array(lines[line])), identityKey: try Base64.decode(lines[line + 1]))
            }
            signatures = try [Base64.decode(lines[7]), Base64.decode(lines[8])]
        } catch { throw .malformed }
        guard number.count == 16, people.allSatisfy({ $0.identityKey.count == 33 }),
            people[0].identityKey.lexicographicallyPrecedes(people[1].identityKey)
        else { throw .malformed }
        try checkSignatures()
    }

    private init(day: UInt64, number: [UInt8], people: [Party], signatures: [[UInt8]]) throws(MeetingError) {
        (self.day, self.number, self.people, self.signatures) = (day, number, people, signatures)
        try checkSignatures()
    }

    private func checkSignatures() throws(MeetingError) {
        let statement = Self.statement(day, number, people)
        for (person, signature) in zip(people, signatures) {
            guard IdentitySignature.isValid(signature, over: statement, by: person.identityKey) else {
                throw .invalidSignature
            }
        }
    }

    /// A receipt before it is signed.
    struct Draft: Hashable, Sendable {
        let own: Party
        private let day: UInt64
        private let number: [UInt8]
        private let people: [Party]

        init(number: [UInt8], day: UInt64, _ own: MeetingPerson, _ peer: MeetingPerson) {
            (self.number, self.day) = (number, day)
            self.own = Party(handle: own.handle, identityKey: own.identityKey)
            let theirs = Party(handle: peer.handle, identityKey: peer.identityKey)
            people =
                own.identityKey.lexicographicallyPrecedes(peer.identityKey) ? [self.own, theirs] : [theirs, self.own]
        }

        var statement: [UInt8] { MeetingReceipt.statement(day, number, people) }

        func signed(own signature: [UInt8], peer: [UInt8]) throws(MeetingError) -> MeetingReceipt {
            try MeetingReceipt(
                day: day, number: number, people: people,
                signatures: people.first == own ? [signature, peer] : [peer, signature])
        }
    }
}
