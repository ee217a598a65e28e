// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import CanonicalCoding

/// What two front ends say to each other: one that has connections of devices, and the one that carries the signals of all.
///
/// Wire form: u8 kind, u64 number of the connection (0 if it is about none), and what the case names.
enum FrontEndMessage: Hashable, Sendable {
    // MARK: To the one that carries signals

    /// 1. The first message.
    case hello
    /// 2. A device of an account has connected: 32 bytes, u64.
    case open(UInt64, CallDevice, Int64)
    /// 3. Bytes have arrived.
    case bytes(UInt64, [UInt8])
    /// 4. A ping was answered.
    case charge(UInt64)
    /// 5. So many bytes were written: u64.
    case written(UInt64, Int)
    /// 6. It says and hears nothing more.
    case close(UInt64)
    /// 7. It is gone.
    case drop(UInt64)
    /// 8. It is to end for this reason: the word.
    case refuse(UInt64, RelayFault)

    // MARK: From it

    /// 16. The answer to a hello.
    case welcome
    /// 17. Bytes for the device.
    case send(UInt64, [UInt8])
    /// 18. So many of its bytes were dealt with: u64.
    case taken(UInt64, Int)
    /// 19. To be closed once everything has been sent.
    case closed(UInt64)
    /// 20. To be closed at once.
    case cut(UInt64)
    /// 21. A device is in a call no more: 32 bytes, 16 bytes.
    case departed(CallDevice, CallID)

    // MARK: Both ways

    /// 32. There is nothing to say.
    case beat
    /// 33. There will be nothing more.
    case farewell

    /// The wire form.
    var encoded: [UInt8] {
        switch self {
        case .hello: Self.encoded(1)
        case .open(let id, let device, let account):
            Self.encoded(2, id, device.signingKey + Self.bytes(UInt64(bitPattern: account)))
        case .bytes(let id, let bytes): Self.encoded(3, id, bytes)
        case .charge(let id): Self.encoded(4, id)
        case .written(let id, let count): Self.encoded(5, id, Self.bytes(UInt64(count)))
        case .close(let id): Self.encoded(6, id)
        case .drop(let id): Self.encoded(7, id)
        case .refuse(let id, let fault): Self.encoded(8, id, Array(fault.rawValue.utf8))
        case .welcome: Self.encoded(16)
        case .send(let id, let bytes): Self.encoded(17, id, bytes)
        case .taken(let id, let count): Self.encoded(18, id, Self.bytes(UInt64(count)))
        case .closed(let id): Self.encoded(19, id)
        case .cut(let id): Self.encoded(20, id)
        case .departed(let device, let call): Self.encoded(21, 0, device.signingKey + call.bytes)
        case .beat: Self.encoded(32)
        case .farewell: Self.encoded(33)
        }
    }

    /// Reads the wire form; nil if it is none.
    init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let kind = try? reader.uint8(), let id = try? reader.uint64(),
            let rest = try? Array(reader.bytes(reader.remaining))
        else { return nil }
        let count = Self.number(rest).flatMap { Int(exactly: $0) }
        switch (kind, count) {
        case (1, _): self = .hello
        case (2, _):
            guard rest.count == 40, let device = CallDevice(Array(rest[..<32])),
                let account = Self.number(Array(rest[32...]))
            else { return nil }
            self = .open(id, device, Int64(bitPattern: account))
        case (3, _): self = .bytes(id, rest)
        case (4, _): self = .charge(id)
        case (5, let count?): self = .written(id, count)
        case (6, _): self = .close(id)
        case (7, _): self = .drop(id)
        case (8, _):
            guard let fault = RelayFault(rawValue: String(decoding: rest, as: UTF8.self)) else { return nil }
            self = .refuse(id, fault)
        case (16, _): self = .welcome
        case (17, _): self = .send(id, rest)
        case (18, let count?): self = .taken(id, count)
        case (19, _): self = .closed(id)
        case (20, _): self = .cut(id)
        case (21, _):
            guard rest.count == 48, let device = CallDevice(Array(rest[..<32])), let call = CallID(Array(rest[32...]))
            else { return nil }
            self = .departed(device, call)
        case (32, _): self = .beat
        case (33, _): self = .farewell
        default: return nil
        }
        guard encoded == bytes else { return nil }
    }

    private static func encoded(_ kind: UInt8, _ id: UInt64 = 0, _ rest: [UInt8] = []) -> [UInt8] {
        [kind] + bytes(id) + rest
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).reversed().map { UInt8(number >> ($0 * 8) & 255) }
    }

    private static func number(_ bytes: [UInt8]) -> UInt64? {
        bytes.count == 8 ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : nil
    }
}
