// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Asks a person to take part in a call that is on: sent by the device that started it to every device of theirs, one by one.
///
/// Wire form: 16-byte id, u16 seconds, u8 length and bytes of the caller's handle, u8 count of the others, and for each, in rising order
/// of bytes, u8 length and bytes of the handle. Handles are 1 to 255 bytes, the caller is none of the others, and no handle comes twice.
///
/// Security: the call, the caller's device, the device that is rung and the time are in the ``Signal`` around it, under one signature.
public struct Ring: Hashable, Sendable {
    /// How long a device may ring, in seconds.
    public static let seconds: ClosedRange<UInt16> = 5...120
    /// The most people in a call beside the caller.
    public static let maximumOtherCount = 32

    /// Its name; answers carry it.
    public let id: SignalNonce
    /// For how long it is to ring, from the time of the signal.
    public let duration: UInt16
    /// The caller's handle, canonical.
    public let caller: [UInt8]
    /// All other people who may take part, including those who are rung.
    public let others: [[UInt8]]

    /// A ring.
    ///
    /// - Throws: ``SignalDecodingError/invalidRing``: no person or too many, a time or a handle of an invalid length,
    ///   or a handle that is repeated or out of order.
    public init(
        id: SignalNonce, duration: UInt16, caller: [UInt8], others: [[UInt8]]
    ) throws(SignalDecodingError) {
        let isRising = zip(others, others.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
        guard Self.seconds.contains(duration), (1...Self.maximumOtherCount).contains(others.count), isRising,
            (others + [caller]).allSatisfy({ (1...255).contains($0.count) }), !others.contains(caller)
        else { throw .invalidRing }
        self.id = id
        self.duration = duration
        self.caller = caller
        self.others = others
    }

    func write(to writer: inout ByteWriter) {
        writer.write(id.bytes)
        writer.write(duration)
        Self.write(caller, to: &writer)
        writer.write(UInt8(truncatingIfNeeded: others.count))
        for handle in others { Self.write(handle, to: &writer) }
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        let (id, duration, caller, others) = try reading(&reader) { reader throws(CanonicalCodingError) in
            let (id, duration) = (try SignalNonce(from: &reader), try reader.uint16())
            let caller = try Self.handle(from: &reader)
            var others: [[UInt8]] = []
            for _ in 0..<(try reader.uint8()) { others.append(try Self.handle(from: &reader)) }
            return (id, duration, caller, others)
        }
        try self.init(id: id, duration: duration, caller: caller, others: others)
    }

    private static func write(_ handle: [UInt8], to writer: inout ByteWriter) {
        writer.write(UInt8(truncatingIfNeeded: handle.count))
        writer.write(handle)
    }

    private static func handle(from reader: inout ByteReader) throws(CanonicalCodingError) -> [UInt8] {
        Array(try reader.bytes(Int(reader.uint8())))
    }
}

/// What a device that rings says to the caller's.
///
/// Wire form: 16-byte id of the ring, u8 answer.
public struct RingAnswer: Hashable, Sendable {
    /// What a person, or their device, says.
    public enum Answer: UInt8, Hashable, Sendable, CaseIterable {
        /// They come into the call, on this device.
        case accept = 1
        /// They do not want to.
        case decline = 2
        /// This device is in a call.
        case busy = 3
    }

    /// Which ring.
    public let id: SignalNonce
    /// What.
    public let answer: Answer

    /// An answer.
    public init(_ answer: Answer, to id: SignalNonce) {
        self.id = id
        self.answer = answer
    }

    func write(to writer: inout ByteWriter) {
        writer.write(id.bytes)
        writer.write(answer.rawValue)
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        let (id, value) = try reading(&reader) { reader throws(CanonicalCodingError) in
            (try SignalNonce(from: &reader), try reader.uint8())
        }
        guard let answer = Answer(rawValue: value) else { throw .unknownReason(value) }
        self.init(answer, to: id)
    }
}

/// The caller's device tells one that rings to stop.
///
/// Wire form: 16-byte id of the ring, u8 reason.
public struct RingEnd: Hashable, Sendable {
    /// Why.
    public enum Reason: UInt8, Hashable, Sendable, CaseIterable {
        /// The caller has hung up, or the time is over: a missed call.
        case over = 1
        /// Another device of the person has accepted.
        case acceptedElsewhere = 2
        /// Another device of the person has declined.
        case declinedElsewhere = 3
    }

    /// Which ring.
    public let id: SignalNonce
    /// Why.
    public let reason: Reason

    /// An end.
    public init(_ reason: Reason, of id: SignalNonce) {
        self.id = id
        self.reason = reason
    }

    func write(to writer: inout ByteWriter) {
        writer.write(id.bytes)
        writer.write(reason.rawValue)
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        let (id, value) = try reading(&reader) { reader throws(CanonicalCodingError) in
            (try SignalNonce(from: &reader), try reader.uint8())
        }
        guard let reason = Reason(rawValue: value) else { throw .unknownReason(value) }
        self.init(reason, of: id)
    }
}
