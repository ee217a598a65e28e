// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
public import SignetClient

/// What the devices of a call tell each other of the directory's log.
public struct CallGossip: Sendable {
    /// This device's newest checkpoint; empty for none.
    let own: [UInt8]
    let meet: @Sendable ([UInt8]) async -> MetCheckpoint

    /// - Parameters:
    ///   - own: the newest checkpoint that this device has verified, as a card; empty for none.
    ///   - meet: compares one that came with a signal.
    public init(own: [UInt8], meet: @escaping @Sendable ([UInt8]) async -> MetCheckpoint) {
        self.own = own
        self.meet = meet
    }
}

extension Client {
    /// The gossip of this client's directory. The call is told of a fork even if the evidence cannot be stored.
    public func callGossip() async -> CallGossip {
        let own = (try? await card()) ?? nil
        return CallGossip(own: own?.encoded ?? []) { bytes in (try? await self.meet(bytes)) ?? .noProof }
    }
}
