// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import SignetAPI
import SocialRecovery

/// A recovery under way on this device: the request, what guardians said to it, and once the log holds it
/// ``RecoveryAttempt`` and the file that guardians open. No secret of the account is in it.
///
/// `signet-recovering/v3` LF; 32-byte secret of the box; 32-byte seed of the numbers to reveal; 104-byte commitment; each behind
/// a u32 length, empty when there is none: request, endorsement, start, attempt, file; u8 count and for each guardian's number,
/// in the order in which they came, u8 length and handle, 97 bytes; u32 number of the request; u8 count and for each guardian
/// whom the person named u8 length and handle. Version 2 ends before the request's number, which its hash gives.
struct RecoveryRecord: Sendable {
    private static let format = Array("signet-recovering/v3\n".utf8)
    private static let secondFormat = Array("signet-recovering/v2\n".utf8)
    private static let firstFormat = Array("signet-recovering/v1\n".utf8)
    /// At most this many guardians who were not named are shown a number.
    private static let maximumCount = 32
    /// At most this many are named: twice as many as a set has, because the person may remember wrongly.
    private static let maximumNamedCount = 32

    /// By which answers are collected.
    let secret: [UInt8]
    /// For the spoken code.
    let numbersSeed: [UInt8]
    /// By which commitment of the account.
    let commitment: RecoveryCommitment
    let request: RecoveryRequest
    /// From the first guardian who confirmed, or by the owner's paper.
    var endorsement: RecoveryEndorsement?
    /// What goes to the log, on the disk before it goes.
    var start: RecoveryStart?
    /// Both once the log holds the start.
    var attempt: RecoveryAttempt?
    var contents: RecoveryContents?
    /// Guardians' numbers for the spoken code, in the order in which they came.
    private(set) var numbers: [(guardian: Handle, number: GuardianNumber)] = []
    /// By what a guardian finds the request; the server gives it.
    var number: RequestNumber
    /// Guardians whom the person named.
    private(set) var named: [Handle] = []
    /// Who answered in the last look and was shown nothing; not kept.
    var others: [Handle] = []

    /// Whether the identity is not this device's yet.
    var isUnderWay: Bool { attempt?.stage != .rearming && attempt?.stage != .done }

    /// Records a person who answered and is shown nothing.
    mutating func passOver(_ guardian: Handle) { if !others.contains(guardian) { others.append(guardian) } }

    init(secret: [UInt8], numbersSeed: [UInt8], commitment: RecoveryCommitment, request: RecoveryRequest) {
        self.secret = secret
        self.numbersSeed = numbersSeed
        self.commitment = commitment
        self.request = request
        number = RequestNumber(ofRequest: request.hash)
    }

    /// The person remembers these guardians.
    mutating func name(_ guardians: [Handle]) {
        for handle in guardians where !named.contains(handle) && named.count < Self.maximumNamedCount {
            named.append(handle)
        }
    }

    /// Whether a person's number is to be accepted: if they are named or on the opened list; while there is neither, if
    /// they are among the first. So an attacker under many names does not keep out a guardian who was named.
    func expects(_ guardian: Handle, _ listed: [Handle]) -> Bool {
        let known = named + listed
        return known.isEmpty ? numbers.count < Self.maximumCount : known.contains(guardian)
    }

    /// Takes a guardian's number, once for each guardian and each place: what came first stays, and only for it is a number
    /// of this device's revealed.
    ///
    /// - Parameter devices: the guardian's, from a verified lookup.
    mutating func take(_ number: GuardianNumber, from guardian: Handle, _ devices: [DeviceRecord]) {
        guard numbers.count < RecoveryReveal.maximumCount else { return }
        guard number.isSigned(for: request.hash, by: guardian, devices) else { return }
        guard !numbers.contains(where: { $0.guardian == guardian || $0.number.place == number.place }) else { return }
        numbers.append((guardian, number))
    }

    /// What each of these guardians is shown, in the order in which their numbers came.
    var reveals: [RecoveryReveal] {
        let own = SpokenNumbers(seed: numbersSeed)
        return numbers.map { RecoveryReveal(to: $0.guardian, number: own.reveal(at: $0.number.place).encoded) }
    }

    /// What to read to each guardian.
    var codes: [Handle: SpokenCode] {
        let own = SpokenNumbers(seed: numbersSeed)
        let codes = numbers.map { taken in
            let code = SpokenCode(
                request: request.hash, guardian: taken.guardian, number: taken.number.number,
                reveal: own.reveal(at: taken.number.place))
            return (taken.guardian, code)
        }
        return Dictionary(codes) { first, _ in first }
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format + secret + numbersSeed + commitment.encoded)
        for part in [
            request.encoded, endorsement?.encoded, start?.encoded, attempt?.encoded, contents?.encoded,
        ] {
            writer.write(UInt32(truncatingIfNeeded: part?.count ?? 0))
            writer.write(part ?? [])
        }
        writer.write(UInt8(truncatingIfNeeded: numbers.count))
        for (handle, number) in numbers {
            writer.write(UInt8(truncatingIfNeeded: handle.bytes.count))
            writer.write(handle.bytes + number.encoded)
        }
        writer.write(number.value)
        writer.write(UInt8(truncatingIfNeeded: named.count))
        for handle in named {
            writer.write(UInt8(truncatingIfNeeded: handle.bytes.count))
            writer.write(handle.bytes)
        }
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        let format = Array(try reader.bytes(Self.format.count))
        guard format == Self.format || format == Self.secondFormat else {
            throw format == Self.firstFormat ? RecoveryFormatError.anotherVersion : .unknownFormat
        }
        secret = Array(try reader.bytes(32))
        numbersSeed = Array(try reader.bytes(32))
        commitment = try RecoveryCommitment(decoding: Array(reader.bytes(RecoveryCommitment.byteCount)))
        var parts: [[UInt8]?] = []
        for _ in 0..<5 {
            let part = Array(try reader.bytes(Int(reader.uint32())))
            parts.append(part.isEmpty ? nil : part)
        }
        request = try RecoveryRequest(decoding: parts[0] ?? [])
        endorsement = try parts[1].map { try RecoveryEndorsement(decoding: $0) }
        start = try parts[2].map { try RecoveryStart(decoding: $0) }
        attempt = try parts[3].map { try RecoveryAttempt(decoding: $0) }
        contents = try parts[4].map { try RecoveryContents(decoding: $0) }
        for _ in 0..<(try reader.uint8()) {
            let handle = try Handle(canonical: Array(reader.bytes(Int(reader.uint8()))))
            numbers.append((handle, try GuardianNumber(decoding: Array(reader.bytes(GuardianNumber.byteCount)))))
        }
        number = RequestNumber(ofRequest: request.hash)
        if format == Self.format { try readNumberAndNames(from: &reader) }
        try reader.end()
        guard (attempt == nil) == (contents == nil) else { throw RecoveryFormatError.invalidField }
    }

    private mutating func readNumberAndNames(from reader: inout ByteReader) throws {
        guard let number = RequestNumber(try reader.uint32()) else { throw RecoveryFormatError.invalidField }
        self.number = number
        for _ in 0..<(try reader.uint8()) {
            named.append(try Handle(canonical: Array(reader.bytes(Int(reader.uint8())))))
        }
    }

    /// Of which epoch the guardians were whom a recovery with an older program asked; nil when these bytes are none of it.
    static func firstEpoch(in bytes: [UInt8]) -> UInt32? {
        // Box and number, length and first line of the attempt, its stage, request hash and identity key come before.
        let offset = firstFormat.count + 64 + 4 + 27 + 1 + 32 + 33
        guard bytes.starts(with: firstFormat), bytes.count >= offset + 4 else { return nil }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
