// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto
public import KeyTransparency

/// A device that asks to be added: its public keys with proof that it holds every private half.
///
/// A new device makes one and shows it to a device that holds the identity key. Wire form:
/// `signet-device-card/v1` LF; ``PossessionRequest``; 32-byte MAC; u16 token length, token; 64-byte
/// Ed25519 signature by the device's signing key over all before it.
public struct DeviceCard: Hashable, Sendable {
    /// The account and the device's public keys.
    public let request: PossessionRequest
    /// That the device holds the two agreement keys.
    public let proof: PossessionProof
    /// That the device holds the signing key, 64 bytes.
    public let signature: [UInt8]
    /// The wire form.
    public let encoded: [UInt8]

    private static let format = Array("signet-device-card/v1\n".utf8)

    /// Signs a card.
    ///
    /// - Parameter sign: gives the 64-byte signature of the device's Ed25519 key over the bytes passed.
    /// - Throws: ``SubmissionError/invalidSignature``: `sign` threw, or signed with another key.
    public init(
        _ request: PossessionRequest, proof: PossessionProof, sign: ([UInt8]) throws -> [UInt8]
    ) throws(SubmissionError) {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(request.encoded)
        writer.write(proof.mac)
        writer.write(UInt16(truncatingIfNeeded: proof.token.count))
        writer.write(proof.token)
        do { writer.write(try sign(writer.bytes)) } catch { throw .invalidSignature }
        try self.init(decoding: writer.bytes)
    }

    /// Reads a card and checks its signature. The possession proof is for the server to check.
    ///
    /// - Throws: ``SubmissionError``.
    public init(decoding bytes: [UInt8]) throws(SubmissionError) {
        do {
            var reader = ByteReader(bytes)
            try self.init(from: &reader)
            try reader.end()
        } catch { throw SubmissionError(error) }
    }

    init(from reader: inout ByteReader) throws {
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
            throw SubmissionError.unknownFormat
        }
        request = try PossessionRequest(from: &reader)
        let mac = Array(try reader.bytes(32))
        let tokenLength = Int(try reader.uint16())
        guard tokenLength <= PossessionChallenge.maximumTokenByteCount else {
            throw SubmissionError.tokenTooLong
        }
        proof = PossessionProof(token: Array(try reader.bytes(tokenLength)), mac: mac)
        signature = Array(try reader.bytes(64))
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(request.encoded)
        writer.write(proof.mac)
        writer.write(UInt16(truncatingIfNeeded: proof.token.count))
        writer.write(proof.token)
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: request.keys.signing),
            key.isValidSignature(signature, for: writer.bytes)
        else { throw SubmissionError.invalidSignature }
        encoded = writer.bytes + signature
    }
}

/// A next state on its way to the directory, with a card for each device that is new in it.
///
/// Wire form: `signet-submission/v1` LF; 32-byte opening; u16 state length, state; u8 card count; cards.
public struct StateSubmission: Hashable, Sendable {
    /// The signed state.
    public let state: AccountState
    /// 32 random bytes that open the logged commitment.
    public let opening: [UInt8]
    /// One card for each device that the previous state did not have.
    public let cards: [DeviceCard]

    private static let format = Array("signet-submission/v1\n".utf8)

    /// A submission.
    ///
    /// - Throws: ``SubmissionError/invalidOpening``: not 32 bytes.
    public init(state: AccountState, opening: [UInt8], cards: [DeviceCard]) throws(SubmissionError) {
        guard opening.count == StateCommitment.byteCount else { throw .invalidOpening }
        self.state = state
        self.opening = opening
        self.cards = cards
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(opening)
        writer.write(UInt16(truncatingIfNeeded: state.encoded.count))
        writer.write(state.encoded)
        writer.write(UInt8(truncatingIfNeeded: cards.count))
        for card in cards { writer.write(card.encoded) }
        return writer.bytes
    }

    /// Reads a submission; the state's and the cards' own signatures are checked.
    ///
    /// - Throws: ``SubmissionError``.
    public init(decoding bytes: [UInt8]) throws(SubmissionError) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw SubmissionError.unknownFormat
            }
            opening = Array(try reader.bytes(StateCommitment.byteCount))
            state = try AccountState(decoding: Array(reader.bytes(Int(reader.uint16()))))
            var cards: [DeviceCard] = []
            for _ in 0..<(try reader.uint8()) { cards.append(try DeviceCard(from: &reader)) }
            self.cards = cards
            try reader.end()
        } catch { throw SubmissionError(error) }
    }
}

/// The position of a submitted state in the log. Wire form: two u64, big-endian.
public struct StateReceipt: Hashable, Sendable {
    /// Leaf index of the state record.
    public let index: UInt64
    /// Size of the published checkpoint that covers it.
    public let size: UInt64

    /// A receipt.
    public init(index: UInt64, size: UInt64) {
        self.index = index
        self.size = size
    }

    /// The wire form, 16 bytes.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(index)
        writer.write(size)
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``SubmissionError/malformed(_:)``.
    public init(decoding bytes: [UInt8]) throws(SubmissionError) {
        do {
            var reader = ByteReader(bytes)
            index = try reader.uint64()
            size = try reader.uint64()
            try reader.end()
        } catch { throw .malformed(error) }
    }
}

/// Why a submission or one of its parts is refused.
public enum SubmissionError: Error, Hashable, Sendable {
    /// Cut short, too long, or not canonical.
    case malformed(CanonicalCodingError)
    /// The first line is another one.
    case unknownFormat
    /// The account state is not acceptable by itself.
    case state(AccountStateError)
    /// Not a handle in its one spelling.
    case invalidHandle(HandleError)
    /// The opening is not 32 bytes.
    case invalidOpening
    /// A device key that nothing can be encapsulated to.
    case invalidDeviceKey
    /// The device's signing key did not sign the card.
    case invalidSignature
    /// The challenge was made for other keys.
    case unanswerableChallenge
    /// The token is longer than any this server makes.
    case tokenTooLong
    /// The token is not this server's, or was made for another request, or before a restart: ask again.
    case unknownToken
    /// The challenge was answered too late: ask again.
    case challengeExpired
    /// The answer shows that an agreement key is not held.
    case possessionNotProven

    init(_ error: any Error) {
        self =
            switch error {
            case let error as SubmissionError: error
            case let error as CanonicalCodingError: .malformed(error)
            case let error as AccountStateError: .state(error)
            case let error as HandleError: .invalidHandle(error)
            default: .unknownFormat
            }
    }
}
