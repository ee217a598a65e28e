// SPDX-License-Identifier: Apache-2.0

import CallSignalling
package import FrameRelay
import KeyDirectory
package import SignalBroker
package import SignetAPI

/// Gives members of calls their tickets to the relay of frames.
package struct CallAnswering: PartAnswering {
    private let hub: SignalHub
    private let relay: RelayServer?

    /// - Parameter relay: passes frames on; nil if this server does not.
    package init(_ hub: SignalHub, relay: RelayServer?) {
        self.hub = hub
        self.relay = relay
        if let relay { hub.onDeparture { device, call in relay.end(device, in: call) } }
    }

    package var routes: [any PartRoute] { CallRoute.allCases }

    package func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        guard let caller = request.caller, let device = CallDevice(caller.deviceKey), let call = CallID(request.body)
        else { throw PartRefusal(.badRequest) }
        guard let relay, let port = UInt16(exactly: relay.port) else { return RelayAdmission.noRelay.encoded }
        guard hub.isMember(device, of: call) else { return RelayAdmission.notInCall.encoded }
        return RelayAdmission.admitted(
            port: port, key: relay.sessionKey(of: device, in: call),
            ticket: relay.ticket(for: device, of: caller.accountID, in: call)
        ).encoded
    }

    package func close() async { await relay?.close() }
}
