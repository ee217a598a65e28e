// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import TransparencyLog

/// A person's card: who they are, by which key, and the newest checkpoint that they have verified. With it in hand, the first
/// visit to them is checked against something that did not come from the directory.
///
/// ```
/// signet-contact/v1
/// alice@example.org
/// <base64 of the 33-byte identity key>
/// <version of the account state>
/// <base64 of the state's 32-byte hash>
/// <base64 of the 64-byte signature>
/// <CheckpointCard>
/// ```
/// Every line ends in LF. The identity key signs (ECDSA on P-256 with SHA-256, r || s) everything but the line of the signature.
///
/// Security: the signature keeps the parts together and says nothing of whose card it is. A card is worth as much as
/// the channel by which it came: everything if it was handed over in person, nothing if it came in a mail that someone
/// else may have written.
public struct ContactCard: Hashable, Sendable {
    /// The longest card, in bytes.
    public static let maximumByteCount = 2048

    /// Whose card.
    public let handle: Handle
    /// Their identity key: P-256, 33 bytes, compressed.
    public let identityKey: [UInt8]
    /// Version of their account state when they made the card.
    public let version: UInt64
    /// SHA-256 of that state, 32 bytes.
    public let stateHash: [UInt8]
    /// The newest checkpoint that they had verified.
    public let checkpoint: CheckpointCard
    /// By the identity key, 64 bytes.
    public let signature: [UInt8]

    private static let firstLine = Array("signet-contact/v1".utf8)

    /// Signs the card of an account that was looked up.
    ///
    /// - Parameter sign: gives the identity key's signature, 64 bytes.
    /// - Throws: ``ContactCardError/invalidSignature``: it is not one of the account's identity key.
    public init(
        of lookup: VerifiedLookup, checkpoint: CheckpointCard, with sign: ([UInt8]) throws -> [UInt8]
    ) throws(ContactCardError) {
        handle = lookup.handle
        let state = lookup.state.authored
        (identityKey, version, stateHash) = (state.identityKey, state.version, state.hash)
        self.checkpoint = checkpoint
        let (head, note) = (Self.head(handle, identityKey, version, stateHash), checkpoint.encoded)
        do { signature = try sign(head + note) } catch { throw .invalidSignature }
        guard AccountSignature.isValid(signature, over: (head + note)[...], by: identityKey) else {
            throw .invalidSignature
        }
    }

    /// Reads a card; checks that the identity key in it signed it, and that a log of the policy signed the checkpoint.
    ///
    /// - Throws: ``ContactCardError``.
    public init(decoding bytes: [UInt8], policy: Policy) throws(ContactCardError) {
        guard bytes.count <= Self.maximumByteCount else { throw .malformed }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 6, omittingEmptySubsequences: false)
        guard lines.count == 7, lines[0] == Self.firstLine[...] else { throw .malformed }
        do {
            handle = try Handle(canonical: Array(lines[1]))
            identityKey = try Base64.decode(lines[2])
            version = try Decimal.decode(lines[3])
            stateHash = try Base64.decode(lines[4])
            signature = try Base64.decode(lines[5])
        } catch { throw .malformed }
        guard AccountSignature.isKey(identityKey), version > 0, stateHash.count == 32 else { throw .malformed }
        let signed = Self.head(handle, identityKey, version, stateHash) + lines[6]
        guard AccountSignature.isValid(signature, over: signed[...], by: identityKey) else { throw .invalidSignature }
        do { checkpoint = try CheckpointCard(decoding: Array(lines[6]), policy: policy) } catch {
            throw .checkpoint(error)
        }
    }

    /// The text.
    public var encoded: [UInt8] {
        Self.head(handle, identityKey, version, stateHash) + Base64.encode(signature) + [UInt8(ascii: "\n")]
            + checkpoint.encoded
    }

    private static func head(
        _ handle: Handle, _ identityKey: [UInt8], _ version: UInt64, _ stateHash: [UInt8]
    ) -> [UInt8] {
        [firstLine, handle.bytes, Base64.encode(identityKey), Decimal.encode(version), Base64.encode(stateHash)]
            .flatMap { $0 + [UInt8(ascii: "\n")] }
    }

    /// Compares a verified answer of the directory with the card: the person, the identity key, and the state unless the
    /// account has moved on since.
    ///
    /// - Throws: ``ContactCardMismatch``, the first that does not fit.
    public func check(_ lookup: VerifiedLookup) throws(ContactCardMismatch) {
        let state = lookup.state.authored
        guard lookup.handle == handle else { throw .anotherPerson(handle) }
        guard state.identityKey == identityKey else { throw .anotherIdentity }
        guard state.version >= version else { throw .olderThanTheCard(card: version, shown: state.version) }
        guard state.version > version || state.hash == stateHash else { throw .anotherState(version) }
    }
}

/// Why bytes are not a contact card. A retry does not help.
public enum ContactCardError: Error, Hashable, Sendable {
    /// Too long, or other lines than a card has.
    case malformed
    /// The identity key did not sign it.
    case invalidSignature
    /// Its checkpoint is none of a log of the policy.
    case checkpoint(CheckpointCardError)
}

/// What in the directory's answer does not match a person's contact card. The directory misbehaved, or the card is not
/// theirs.
public enum ContactCardMismatch: Error, Hashable, Sendable {
    /// The card is of this other person.
    case anotherPerson(Handle)
    /// The directory shows another identity key.
    case anotherIdentity
    /// The directory shows an older state than the person had when they made the card.
    case olderThanTheCard(card: UInt64, shown: UInt64)
    /// The directory shows another state under this version.
    case anotherState(UInt64)
}
