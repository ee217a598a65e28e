// SPDX-License-Identifier: Apache-2.0

public import CallSignalling

/// A frame that arrived, or something sealed for this device.
public struct ArrivedFrame: Hashable, Sendable {
    /// The encrypted frame, or what is sealed.
    public let bytes: [UInt8]
    /// Whom the relay let in and took it from; nil if the way of frames cannot tell.
    public let carriedFor: MemberAlias?
    /// Whether it is a `KeyPacket` for this device alone, and no frame.
    public let isSealed: Bool

    /// A frame, or something sealed.
    public init(_ bytes: [UInt8], carriedFor: MemberAlias? = nil, isSealed: Bool = false) {
        self.bytes = bytes
        self.carriedFor = carriedFor
        self.isSealed = isSealed
    }
}

/// The way that frames take between devices: a relay that passes them on, or a test. Frames get lost, and overtake each other.
public protocol CallFrames: Sendable {
    /// Encrypted frames that arrive. For one reader.
    var incoming: AsyncStream<ArrivedFrame> { get }
    /// Sends an encrypted frame to all others in the call, at most `RelayPacket/maximumFrameByteCount` bytes.
    func send(_ frame: [UInt8])
    /// Sends something sealed to one other in the call, at most as many bytes.
    func send(_ packet: [UInt8], to alias: MemberAlias)
    /// Goes.
    func close() async
}
