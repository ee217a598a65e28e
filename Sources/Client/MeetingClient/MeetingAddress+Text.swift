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

    /// The addresses of this machine at which another one of the same network can reach it: those of IPv4 first, no loopback address and none
    /// that is good on one link alone.
    public static var ofThisMachine: [MeetingAddress] {
        let devices = (try? System.enumerateDevices()) ?? []
        let all = devices.compactMap { IPAddress($0.address) }.compactMap { MeetingAddress($0.bytes) }
        let usable = all.filter(\.isReachable)
        return usable.filter { $0.bytes.count == 4 } + usable.filter { $0.bytes.count == 16 }
    }

    private var isReachable: Bool {
        switch self {
        case .version4(let bytes): bytes[0] != 127 && bytes != [0, 0, 0, 0] && !(bytes[0] == 169 && bytes[1] == 254)
        case .version6(let bytes):
            bytes != [UInt8](repeating: 0, count: 15) + [1] && !(bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
        }
    }
}
