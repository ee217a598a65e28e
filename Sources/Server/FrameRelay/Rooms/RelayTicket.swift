// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import CanonicalCoding
package import Crypto

// swift-crypto's boxes speak `Data`.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the relays of several front ends have in common, so that a ticket of one lets its device into any.
package struct SharedTickets: Sendable {
    /// Makes tickets.
    let sealing: SymmetricKey
    /// Those under which tickets are accepted now.
    let accepted: @Sendable () -> [SymmetricKey]
    /// Milliseconds since 1970: the uptime of another machine says nothing here.
    let date: @Sendable () -> UInt64

    /// - Parameters:
    ///   - sealing: makes tickets; 32 bytes.
    ///   - accepted: the keys under which tickets are accepted now, `sealing` among them.
    ///   - date: milliseconds since 1970.
    package init(
        sealing: SymmetricKey, accepted: @escaping @Sendable () -> [SymmetricKey],
        date: @escaping @Sendable () -> UInt64
    ) {
        (self.sealing, self.accepted, self.date) = (sealing, accepted, date)
    }
}

/// Makes and reads the tickets by which devices come into a room. A key of one process lives as long as the process: after a restart
/// every device needs another ticket.
///
/// Wire form of a ticket: a box of ChaCha20-Poly1305: 12-byte nonce, 64 bytes, 16-byte tag. In it: 16-byte call, 32-byte device, u64
/// account, u64 end in milliseconds: of the uptime, or since 1970 if several relays share the key.
///
/// Security: for all but the relay, a ticket is noise; two of one device, or of one call, have nothing in common.
public struct TicketKey: Sendable {
    private static let contentByteCount = 64
    /// How far the clocks of two front ends may be apart, in milliseconds, so that a ticket from before its device left is still refused.
    static let clockTolerance: UInt64 = 5000

    /// What only this process has: a cookie of one relay is worth nothing at another.
    private let own = SymmetricKey(size: .bits256)
    private let shared: SharedTickets?

    /// A fresh key.
    public init() { shared = nil }

    /// The key of several relays.
    package init(_ shared: SharedTickets) { self.shared = shared }

    /// The time in which the ends of tickets are given.
    func time(at uptime: UInt64) -> UInt64 { shared?.date() ?? uptime }

    /// By how much longer a device that left has no ticket, in milliseconds.
    var tolerance: UInt64 { shared == nil ? 0 : Self.clockTolerance }

    private var key: SymmetricKey { shared?.sealing ?? own }

    /// A ticket for a device of a call.
    ///
    /// - Parameter end: until when it lets the device in, in milliseconds of ``time(at:)``.
    public func ticket(for device: CallDevice, of account: Int64, in call: CallID, until end: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(call.bytes)
        writer.write(device.signingKey)
        writer.write(UInt64(bitPattern: account))
        writer.write(end)
        // Sealing fails for a nonce of another length only, and this one is made by the library: then there is no ticket.
        return (try? ChaChaPoly.seal(writer.bytes, using: key)).map { Array($0.combined) } ?? []
    }

    /// What a ticket says; nil if no accepted key made it.
    ///
    /// - Parameters:
    ///   - now: milliseconds of the uptime; the end of what is returned is in these.
    ///   - longest: nobody makes tickets that are good for longer, in milliseconds. For a key that is shared.
    func read(_ ticket: [UInt8], at now: UInt64, atMost longest: UInt64) -> RelayTicket? {
        guard let box = try? ChaChaPoly.SealedBox(combined: ticket) else { return nil }
        for key in shared?.accepted() ?? [own] {
            guard let content = try? ChaChaPoly.open(box, using: key), content.count == Self.contentByteCount else {
                continue
            }
            return read(Array(content), under: key, at: now, atMost: longest)
        }
        return nil
    }

    private func read(
        _ bytes: [UInt8], under key: SymmetricKey, at now: UInt64, atMost longest: UInt64
    ) -> RelayTicket? {
        guard let call = CallID(Array(bytes[..<16])), let device = CallDevice(Array(bytes[16..<48])) else { return nil }
        return RelayTicket(
            place: RelayPlace(call: call, device: device), account: Int64(bitPattern: Self.number(bytes[48..<56])),
            end: uptime(of: Self.number(bytes[56...]), at: now, atMost: longest),
            sessionKey: Self.sessionKey(of: device, in: call, under: key))
    }

    /// The end of a ticket on this machine's clock that never goes back.
    private func uptime(of end: UInt64, at now: UInt64, atMost longest: UInt64) -> UInt64 {
        guard let shared else { return end }
        let date = shared.date()
        return now + min(end - min(end, date), longest)
    }

    /// What the device and the relay have in common, 16 bytes: the same for as long as the key of tickets.
    public func sessionKey(of device: CallDevice, in call: CallID) -> [UInt8] {
        Self.sessionKey(of: device, in: call, under: key)
    }

    private static func sessionKey(of device: CallDevice, in call: CallID, under key: SymmetricKey) -> [UInt8] {
        Array(tag(Array("session".utf8) + call.bytes + device.signingKey, key).prefix(RelayKey.byteCount))
    }

    /// What the receiver at an address must repeat; it is known to that receiver and unknown to others.
    func cookie(for address: [UInt8]) -> UInt64 {
        Self.number(Self.tag(Array("cookie".utf8) + address, own).prefix(8))
    }

    private static func tag(_ bytes: [UInt8], _ key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// A device in a call.
struct RelayPlace: Hashable {
    let call: CallID
    let device: CallDevice
}

/// The device that may enter a room, the room, and the time until which it may.
struct RelayTicket: Hashable {
    let place: RelayPlace
    let account: Int64
    /// In milliseconds of the uptime.
    let end: UInt64
    /// What the device has in common with every relay that accepts the ticket.
    let sessionKey: [UInt8]
}
