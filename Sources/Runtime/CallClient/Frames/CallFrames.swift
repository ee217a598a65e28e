/// The way that frames take between devices: a relay that passes them on, or a test. Frames get lost, and overtake each other.
public protocol CallFrames: Sendable {
    /// Encrypted frames that arrive. For one reader.
    var incoming: AsyncStream<[UInt8]> { get }
    /// Sends an encrypted frame to all others in the call, at most ``CallSignalling/RelayPacket/maximumByteCount`` - 1 bytes.
    func send(_ frame: [UInt8])
    /// Goes.
    func close() async
}
