// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
public import STOMP

/// Cuts what arrives on a connection into frames. It needs no broker, so that only the sender waits for it.
public struct FrameReader: Sendable {
    private var decoder: StompDecoder

    /// A reader of a connection's first byte.
    public init(_ limits: BrokerLimits) { decoder = StompDecoder(limits: limits.frames) }

    /// Takes in bytes, however cut into pieces.
    public mutating func append(_ bytes: some Collection<UInt8>) { decoder.append(bytes) }

    /// The next frame; nil if none is complete.
    ///
    /// - Throws: ``CallSignalling/RelayFault/malformedFrame``: the connection is to be ended.
    public mutating func next() throws(RelayFault) -> StompFrame? {
        do {
            while let element = try decoder.next() { if case .frame(let frame) = element { return frame } }
            return nil
        } catch { throw .malformedFrame }
    }
}

/// A frame, and what comes of looking at the signal in it.
public struct JudgedFrame: Sendable {
    let frame: StompFrame
    /// Of a SEND to a call or an inbox; nil if the body is not a signal.
    let signal: JudgedSignal?

    /// Reads the signal, if there is to be one, and looks at its signature. This is the expensive part of every frame.
    public init(_ frame: StompFrame) {
        self.frame = frame
        let isSignal = frame.command == .send && RelayRoute(destination: frame.value(of: .destination) ?? []) != nil
        signal = isSignal ? (try? Signal(decoding: frame.body)).map { JudgedSignal($0) } : nil
    }

    var byteCount: Int { frame.body.count + frame.headers.reduce(0) { $0 + $1.name.bytes.count + $1.value.count } }
}
