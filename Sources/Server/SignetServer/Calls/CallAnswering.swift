// SPDX-License-Identifier: Apache-2.0

import CallSignalling
package import FrameRelay
import KeyDirectory
package import SignalBroker
package import SignetAPI

/// Gives members of calls their tickets to the relay of frames.
package struct CallAnswering: PartAnswering {
    private let signals: any SignalExchange
    private let relay: RelayServer?
    private let ports: [UInt16]

    /// - Parameters:
    ///   - signals: knows who is in a call.
    ///   - relay: passes frames on; nil if this server does not.
    ///   - ports: where clients reach the relays of all front ends, in one order for all, if these share their tickets; none: only this one's.
    package init(_ signals: any SignalExchange, relay: RelayServer?, ports: [UInt16] = []) {
        self.signals = signals
        self.relay = relay
        self.ports = ports
        if let relay { signals.onDeparture { device, call in relay.end(device, in: call) } }
    }

    package var routes: [any PartRoute] { CallRoute.allCases }

    package func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        guard let caller = request.caller, let device = CallDevice(caller.deviceKey), let call = CallID(request.body)
        else { throw PartRefusal(.badRequest) }
        guard let relay, let port = port(of: call, at: relay) else { return RelayAdmission.noRelay.encoded }
        // Before the question: a ticket from before the device left is not good.
        let end = relay.ticketEnd()
        guard let isMember = await signals.membership(of: device, in: call) else { throw PartRefusal(.unavailable) }
        guard isMember else { return RelayAdmission.notInCall.encoded }
        return RelayAdmission.admitted(
            port: port, key: relay.sessionKey(of: device, in: call),
            ticket: relay.ticket(for: device, of: caller.accountID, in: call, until: end)
        ).encoded
    }

    /// All devices of a call are sent to one relay, whichever front end they ask.
    private func port(of call: CallID, at relay: RelayServer) -> UInt16? {
        Self.port(of: call, among: ports) ?? UInt16(exactly: relay.port)
    }

    /// The same for each front end that has the same ports; nil if there are none.
    static func port(of call: CallID, among ports: [UInt16]) -> UInt16? {
        guard !ports.isEmpty else { return nil }
        return ports[Int(call.bytes.reduce(0) { ($0 << 8 | UInt64($1)) % UInt64(ports.count) })]
    }

    package func close() async { await relay?.close() }
}
