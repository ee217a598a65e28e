// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// What a device and the relay of frames have in common: 16 bytes that the device got over its pinned connection. Only
/// a holder of them can say something in the device's name.
///
/// Spec: a code is the first 8 bytes, big-endian, of HMAC-SHA256 over u8 kind of the packet, u64 stay (in a hello: the cookie), and
/// the fields behind the code; where there is an alias, it stands before what follows the code.
public struct RelayKey: Sendable {
    /// How long a key is.
    public static let byteCount = 16
    private let key: SymmetricKey

    /// A key from 16 bytes; nil for another length.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// A device's hello.
    public func hello(cookie: UInt64, ticket: [UInt8]) -> RelayPacket {
        .hello(cookie: cookie, code: code(11, cookie, ticket), ticket: ticket)
    }

    /// The relay's welcome.
    public func welcome(_ stay: UInt64) -> RelayPacket { .welcome(stay: stay, code: code(13, stay, [])) }

    /// A device's frame.
    public func frame(_ frame: [UInt8], _ stay: UInt64) -> RelayPacket { .frame(code: code(14, stay, frame), frame) }

    /// A device's farewell.
    public func farewell(_ stay: UInt64) -> RelayPacket { .farewell(code: code(15, stay, [])) }

    /// A frame of another device, as the relay hands it to this one.
    public func relayed(_ frame: [UInt8], of alias: MemberAlias, _ stay: UInt64) -> RelayPacket {
        .relayed(from: alias, code: code(17, stay, alias.bytes + frame), frame)
    }

    /// Something sealed for another device.
    public func sealed(_ bytes: [UInt8], to alias: MemberAlias, _ stay: UInt64) -> RelayPacket {
        .sealed(to: alias, code: code(18, stay, alias.bytes + bytes), bytes)
    }

    /// The same from another device, as the relay hands it to this one.
    public func relayedSealed(_ bytes: [UInt8], of alias: MemberAlias, _ stay: UInt64) -> RelayPacket {
        .relayedSealed(from: alias, code: code(19, stay, alias.bytes + bytes), bytes)
    }

    /// Whether a packet was made with this key.
    ///
    /// - Parameter stay: the number in the welcome; of no meaning for a hello and a welcome, which name their own.
    public func made(_ packet: RelayPacket, in stay: UInt64) -> Bool {
        switch packet {
        case .hello(let cookie, let code, let ticket): code == self.code(11, cookie, ticket)
        case .welcome(let stay, let code): code == self.code(13, stay, [])
        case .frame(let code, let frame): code == self.code(14, stay, frame)
        case .farewell(let code): code == self.code(15, stay, [])
        case .relayed(let alias, let code, let frame): code == self.code(17, stay, alias.bytes + frame)
        case .sealed(let alias, let code, let bytes): code == self.code(18, stay, alias.bytes + bytes)
        case .relayedSealed(let alias, let code, let bytes): code == self.code(19, stay, alias.bytes + bytes)
        case .challenge, .refused: false
        }
    }

    private func code(_ kind: UInt8, _ number: UInt64, _ bytes: [UInt8]) -> UInt64 {
        var writer = ByteWriter()
        writer.write(kind)
        writer.write(number)
        writer.write(bytes)
        return HMAC<SHA256>.authenticationCode(for: writer.bytes, using: key).prefix(8).reduce(0) {
            $0 << 8 | UInt64($1)
        }
    }
}
