// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
public import Meeting
import NIOCore

extension MeetingAddress {
    /// An address as people write it, such as `192.0.2.1` or `2001:db8::1`; nil for anything else, also for a name.
    public init?(text: String) {
        guard let address = IPAddress(text: text) else { return nil }
        self.init(address.bytes)
    }

    /// The addresses of this machine at which another one of the same network can reach it: those of IPv4 first, no loopback address, and one
    /// that is good on one link alone only if there is no other.
    public static var ofThisMachine: [MeetingAddress] {
        let devices = (try? System.enumerateDevices()) ?? []
        let all = devices.compactMap { IPAddress($0.address) }.compactMap { MeetingAddress($0.bytes) }
        let usable = all.filter(\.isReachable)
        let found = usable.filter { $0.bytes.count == 4 } + usable.filter { $0.bytes.count == 16 }
        // Without a router, two machines that are joined by a cable have these.
        return found.isEmpty ? all.filter(\.isOfOneLink) : found
    }

    /// 169.254.0.0/16 (RFC 3927).
    private var isOfOneLink: Bool {
        if case .version4(let bytes) = self { bytes[0] == 169 && bytes[1] == 254 } else { false }
    }

    private var isReachable: Bool {
        switch self {
        case .version4(let bytes): bytes[0] != 127 && bytes != [0, 0, 0, 0] && !isOfOneLink
        case .version6(let bytes):
            bytes != [UInt8](repeating: 0, count: 15) + [1] && !(bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
        }
    }
}
