// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// How often one side can send something and wants to receive something.
///
/// Wire form: two decimal numbers with a comma between, in milliseconds; 0 means never.
///
/// Spec: STOMP 1.2, "Heart-beating".
public struct HeartBeat: Hashable, Sendable {
    /// At most this long between two things sent, in milliseconds; 0: cannot promise.
    public let canSend: UInt64
    /// At most this long between two things received, in milliseconds; 0: does not want.
    public let wants: UInt64

    /// A side's promise and wish, in milliseconds.
    public init(canSend: UInt64, wants: UInt64) {
        self.canSend = canSend
        self.wants = wants
    }

    /// Neither promised nor wanted: what a missing header means.
    public static let none = HeartBeat(canSend: 0, wants: 0)

    /// The header's value.
    public var encoded: [UInt8] { Decimal.encode(canSend) + [UInt8(ascii: ",")] + Decimal.encode(wants) }

    /// Reads a header's value.
    ///
    /// - Throws: `CanonicalCodingError`: not two decimal numbers of one spelling with a comma between.
    public init(decoding value: [UInt8]) throws(CanonicalCodingError) {
        guard let comma = value.firstIndex(of: UInt8(ascii: ",")) else { throw .invalidLength(value.count) }
        canSend = try Decimal.decode(value[..<comma])
        wants = try Decimal.decode(value[(comma + 1)...])
    }

    /// No silence that was agreed on is longer, in milliseconds: ten minutes. A side that promises less is held to this, or its
    /// promise would switch off the look for silence.
    public static let longest: UInt64 = 600_000

    /// How often this side must send to `other`, in milliseconds, at most ``longest``; nil: never.
    public func sendInterval(to other: HeartBeat) -> UInt64? {
        canSend == 0 || other.wants == 0 ? nil : min(max(canSend, other.wants), Self.longest)
    }

    /// How often this side hears from `other`, in milliseconds; nil: whenever it likes. Wait for twice as long.
    public func receiveInterval(from other: HeartBeat) -> UInt64? { other.sendInterval(to: self) }
}
