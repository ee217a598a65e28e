// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// How many sealed packets a device is opened in a second: opening one takes a tenth of a millisecond, and making junk nothing.
struct PacketAllowance {
    /// More than a host sends to a member, or a member to its host.
    static let packetsPerSecond = 40
    /// Names that are counted at once; the relay has no more in a call.
    static let nameCount = 64

    private var counts: [MemberAlias?: Int] = [:]
    private var since: UInt64 = 0

    /// Counts a packet; false if it is one too many.
    mutating func takes(from alias: MemberAlias?, at now: UInt64) -> Bool {
        if now >= since + 1000 { (counts, since) = ([:], now) }
        let count = counts[alias] ?? 0
        guard count < Self.packetsPerSecond, count > 0 || counts.count < Self.nameCount else { return false }
        counts[alias] = count + 1
        return true
    }
}
