public import Security

// A stand-in for the part of swift-crypto that KeyPinning and the keystores use, so that types can be checked without building it.
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
public struct SymmetricKey: ContiguousBytes, Sendable {
    public init(data: some Sequence<UInt8>) {}
    public var bitCount: Int { 0 }
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}
public protocol ContiguousBytes {}
public enum HKDF<Hash> {
    public static func deriveKey(
        inputKeyMaterial: SymmetricKey, salt: [UInt8], info: [UInt8], outputByteCount: Int
    ) -> SymmetricKey { inputKeyMaterial }
}
public struct NoKey: Error {}
public enum P256 {
    public enum Signing {
        public struct PublicKey {
            public init(x963Representation: some Sequence<UInt8>) throws { throw NoKey() }
            public init(compressedRepresentation: some Sequence<UInt8>) throws { throw NoKey() }
            public var compressedRepresentation: [UInt8] { [] }
        }
        public struct ECDSASignature {
            public init(derRepresentation: some Sequence<UInt8>) throws { throw NoKey() }
            public var rawRepresentation: [UInt8] { [] }
        }
    }
    public enum KeyAgreement {
        public struct PublicKey {
            public init(compressedRepresentation: some Sequence<UInt8>) throws { throw NoKey() }
            public var x963Representation: Data { Data() }
        }
    }
}
