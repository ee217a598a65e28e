// SPDX-License-Identifier: Apache-2.0

package import CallSignalling

/// The connection of a device, as its carrier sees it. Safe to call from any thread; nothing waits.
package protocol SignalLine: Sendable {
    /// Bytes have arrived.
    func receive(_ bytes: [UInt8])
    /// Charges the account for a WebSocket's ping; returns whether it may be answered.
    func charge() -> Bool
    /// So many bytes were written.
    func noteWritten(_ byteCount: Int)
    /// It says and hears nothing more; what was sent may still be on its way.
    func close()
    /// It is gone, and what was on its way.
    func drop()
    /// Ends it for a reason of its carrier's.
    func refuse(_ fault: RelayFault)
}

/// What carries the signals of a server's devices: a hub of its own, or one that several front ends have together.
package protocol SignalExchange: Sendable {
    /// What devices may take.
    var limits: BrokerLimits { get }
    /// A device of an account, which has proved to be one, has connected. Where nothing carries signals now, it is told so.
    func connect(_ device: CallDevice, of account: Int64, to sink: any SignalSink) -> any SignalLine
    /// Whether a device is in a call; nil: that cannot be said now.
    func membership(of device: CallDevice, in call: CallID) async -> Bool?
    /// From now on `body` is told of each device that is in a call no more. It must not wait, or call back before it returns.
    func onDeparture(_ body: @escaping @Sendable (CallDevice, CallID) -> Void)
    /// Does what is due until the task is cancelled, then ends every connection. To be called once.
    ///
    /// - Parameter isDevice: whether a key is an active device's.
    func run(asking isDevice: @escaping @Sendable (CallDevice) async -> Bool) async
}

/// A connection to a hub of this process.
struct HubLine: SignalLine {
    let hub: SignalHub
    let id: SessionID

    func receive(_ bytes: [UInt8]) { hub.receive(bytes, on: id) }
    func charge() -> Bool { hub.charge(id) }
    func noteWritten(_ byteCount: Int) { hub.noteWritten(byteCount, on: id) }
    func close() { hub.close(id) }
    func drop() { hub.drop(id) }
    func refuse(_ fault: RelayFault) { hub.refuse(id, fault) }
}

extension SignalHub: SignalExchange {
    package func connect(_ device: CallDevice, of account: Int64, to sink: any SignalSink) -> any SignalLine {
        HubLine(hub: self, id: open(device, of: account, to: sink))
    }

    package func membership(of device: CallDevice, in call: CallID) async -> Bool? {
        isMember(device, of: call)
    }

    package func run(asking isDevice: @escaping @Sendable (CallDevice) async -> Bool) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.run() }
            group.addTask { await self.forgetStrangers(asking: isDevice) }
        }
    }

    /// A signal is accepted before it is known whether its recipient exists: asking first would make all signals wait
    /// for the database. A device is asked for when it connects; one that is revoked later loses its connection here.
    private func forgetStrangers(asking isDevice: @Sendable (CallDevice) async -> Bool) async {
        var known: Set<CallDevice> = []
        var last: SessionID?
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            await forgetStrangers(&known, unless: isDevice)
            await endRevoked(after: &last, unless: isDevice)
        }
    }
}
