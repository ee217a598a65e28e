// SPDX-License-Identifier: Apache-2.0

import CallKeys
package import CallSignalling
import Synchronization

/// What goes wrong on purpose, for tests and demonstrations.
package struct CallFaults: Sendable {
    /// Whether every second fresh key is lost, and all packets beside the signals, so that it has to be asked for.
    package let losesKeys: Bool
    /// A network that is gone for a while; nil for one that stays.
    package let outage: Outage?

    /// Faults; none unless said.
    package init(losesKeys: Bool = false, outage: Outage? = nil) {
        self.losesKeys = losesKeys
        self.outage = outage
    }

    func afflict(_ signals: any CallSignals) -> any CallSignals {
        let signals = losesKeys ? ForgetfulSignals(signals) : signals
        return outage.map { InterruptedSignals(signals, by: $0) } ?? signals
    }

    func afflict(_ frames: any CallFrames) -> any CallFrames {
        let frames = losesKeys ? ForgetfulFrames(frames) : frames
        return outage.map { InterruptedFrames(frames, by: $0) } ?? frames
    }
}

/// While it lasts, neither signals nor frames leave this device or reach it, and none of them comes later.
package final class Outage: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// None yet.
    package init() {}

    /// Begins now.
    package func last(for duration: Duration) { end.withLock { $0 = .now + duration } }

    var isOn: Bool { end.withLock { $0.map { .now < $0 } ?? false } }
}

extension GroupCall {
    /// Sends sound in the name of another member, by way of a relay that helps.
    ///
    /// - Parameter number: the frame's number under its key.
    /// - Returns: false if this device is in no call with that member.
    package func forge(_ sound: [UInt8], as member: CallDevice, number: UInt64) -> Bool {
        let content = AudioFrame(number: UInt32(truncatingIfNeeded: number), sound: sound).encoded
        guard let frame = participant.forge(content, as: member, .audio, number: number) else { return false }
        frames.send([RelayPacket.forgeryMark] + frame, to: MemberAlias(of: member, in: callID))
        return true
    }
}

private struct InterruptedSignals: CallSignals {
    let incoming: AsyncStream<[UInt8]>
    private let signals: any CallSignals
    private let outage: Outage

    init(_ signals: any CallSignals, by outage: Outage) {
        (self.signals, self.outage) = (signals, outage)
        incoming = signals.incoming.unlessLost(to: outage)
    }

    func send(_ signal: Signal) { if !outage.isOn { signals.send(signal) } }
    func invite(_ devices: [CallDevice]) async { if !outage.isOn { await signals.invite(devices) } }
    func remove(_ devices: [CallDevice]) async { if !outage.isOn { await signals.remove(devices) } }
    func close() async { await signals.close() }
}

private struct InterruptedFrames: CallFrames {
    let incoming: AsyncStream<ArrivedFrame>
    private let frames: any CallFrames
    private let outage: Outage

    init(_ frames: any CallFrames, by outage: Outage) {
        (self.frames, self.outage) = (frames, outage)
        incoming = frames.incoming.unlessLost(to: outage)
    }

    func send(_ frame: [UInt8]) { if !outage.isOn { frames.send(frame) } }
    func send(_ packet: [UInt8], to alias: MemberAlias) { if !outage.isOn { frames.send(packet, to: alias) } }
    func close() async { await frames.close() }
}

extension AsyncStream where Element: Sendable {
    fileprivate func unlessLost(to outage: Outage) -> AsyncStream<Element> {
        let (stream, arrived) = AsyncStream.makeStream(of: Element.self)
        Task {
            for await element in self where !outage.isOn { arrived.yield(element) }
            arrived.finish()
        }
        return stream
    }
}
