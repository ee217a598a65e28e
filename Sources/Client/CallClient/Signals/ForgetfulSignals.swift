// SPDX-License-Identifier: Apache-2.0

package import CallSignalling

/// Signals of which this device loses some, for tests and demonstrations: every message with the secret of an even generation. It
/// then has to ask.
package struct ForgetfulSignals: CallSignals {
    package let incoming: AsyncStream<[UInt8]>
    private let signals: any CallSignals

    /// The signals that are left of these.
    package init(_ signals: any CallSignals) {
        self.signals = signals
        let (incoming, arrived) = AsyncStream.makeStream(of: [UInt8].self)
        self.incoming = incoming
        Task {
            for await bytes in signals.incoming where !Self.isLost(bytes) { arrived.yield(bytes) }
            arrived.finish()
        }
    }

    private static func isLost(_ bytes: [UInt8]) -> Bool {
        guard let signal = try? Signal(decoding: bytes), case .rotation(let rotation) = signal.content.body else {
            return false
        }
        return rotation.epoch.generation.isMultiple(of: 2)
    }

    package func send(_ signal: Signal) { signals.send(signal) }
    package func invite(_ devices: [CallDevice]) async { await signals.invite(devices) }
    package func remove(_ devices: [CallDevice]) async { await signals.remove(devices) }
    package func close() async { await signals.close() }
}

/// Frames that come without anything sealed beside them: otherwise what the signals lost would not be missed.
package struct ForgetfulFrames: CallFrames {
    package let incoming: AsyncStream<ArrivedFrame>
    private let frames: any CallFrames

    /// The frames of these.
    package init(_ frames: any CallFrames) {
        self.frames = frames
        let (incoming, arrived) = AsyncStream.makeStream(of: ArrivedFrame.self)
        self.incoming = incoming
        Task {
            for await frame in frames.incoming where !frame.isSealed { arrived.yield(frame) }
            arrived.finish()
        }
    }

    package func send(_ frame: [UInt8]) { frames.send(frame) }
    package func send(_ packet: [UInt8], to alias: MemberAlias) { frames.send(packet, to: alias) }
    package func close() async { await frames.close() }
}
