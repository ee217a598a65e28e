// A stand-in for the part of swift-crypto that KeyPinning uses, so that types can be checked without building it.
public struct SHA256Digest: Sequence {
    public func makeIterator() -> IndexingIterator<[UInt8]> { [].makeIterator() }
    public func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}
public struct SHA256 {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
    public static func hash(data: some Sequence<UInt8>) -> SHA256Digest { SHA256Digest() }
}
