public import CallSignalling

/// A frame that arrived.
public struct ArrivedFrame: Hashable, Sendable {
    /// The encrypted frame.
    public let bytes: [UInt8]
    /// Whom the relay let in and took it from; nil if the way of frames cannot tell.
    public let carriedFor: MemberAlias?

    /// A frame.
    public init(_ bytes: [UInt8], carriedFor: MemberAlias? = nil) {
        self.bytes = bytes
        self.carriedFor = carriedFor
    }
}

/// The way that frames take between devices: a relay that passes them on, or a test. Frames get lost, and overtake each other.
public protocol CallFrames: Sendable {
    /// Encrypted frames that arrive. For one reader.
    var incoming: AsyncStream<ArrivedFrame> { get }
    /// Sends an encrypted frame to all others in the call, at most ``CallSignalling/RelayPacket/maximumFrameByteCount`` bytes.
    func send(_ frame: [UInt8])
    /// Goes.
    func close() async
}
