// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto

@testable import CallKeys

@Sendable func callParsers() -> [Parser] {
    let (call, device) = needed { try fuzzedCall() }
    return [
        .canonical("signal", Signal.init(decoding:), \.encoded),
        .canonical("signal of eCall", LegacySignal.init(decoding:), \.encoded),
        .canonical("memory of rings", { RingMemory(decoding: $0) }, \.encoded),
        .canonical("destination", { RelayRoute(destination: $0) }, \.destination),
        .canonical("packet of the relay", { RelayPacket(decoding: $0) }, \.encoded),
        Parser("act") { bytes in
            let parts = bytes.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
            guard parts.count == 2, let act = CallAct(destination: parts[0], body: parts[1]) else { return false }
            demand([act.destination, act.body], equals: parts, "act: another one was written")
            return true
        },
        Parser("packet of keys, behind its seal") {
            (try? KeyPacket.verify($0, for: device, in: call)) != nil
        },
    ]
}

/// What costs an agreement of keys for each input.
@Sendable func callSealParsers() -> [Parser] {
    let (call, device) = needed { try fuzzedCall() }
    let agreement = needed { try Party(1).agreement }
    return [
        Parser("packet of keys") { (try? KeyPacket.open($0, for: device, in: call, with: agreement)) != nil },
        Parser("frame of eCall") { bytes in
            var keys = LegacyKeys.session()
            keys.setCurrent(legacyKey, at: 0)
            return (try? keys.open(bytes, at: 1)) != nil
        },
        Parser("wrap of eCall") { (try? LegacyWrap.openP256($0, with: agreement)) != nil },
    ]
}
