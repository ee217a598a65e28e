// SPDX-License-Identifier: Apache-2.0

import NIOCore
public import SignalBroker

/// The calls and inboxes of a data directory.
public enum StoredSignals {
    /// Opens what a data directory holds of them, or makes it. One server at a time: the directory is to be open.
    ///
    /// - Throws: `SignalStoreError`: the operator has to act.
    public static func open(
        _ data: DataDirectory, limits: BrokerLimits = BrokerLimits()
    ) throws(SignalStoreError) -> SignalHub {
        try SignalHub(limits, remembering: SignalStore(at: data.signals), clock: clock)
    }

    /// The system's clocks.
    package static func clock() -> BrokerTime {
        let clock = ServerClock.system
        return BrokerTime(uptime: clock.uptime() / 1_000_000, date: ServerClock.milliseconds())
    }
}
