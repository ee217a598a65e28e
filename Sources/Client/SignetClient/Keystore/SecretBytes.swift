// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Bytes that must not leave the program: not codable, not printable, and wiped when the last owner releases them.
///
/// Security: they are reachable only inside ``withBytes(_:)``. Copies that a cryptographic library makes while it works are
/// left for that library to wipe.
public final class SecretBytes: @unchecked Sendable {
    // Written in the initialiser only, so that sharing between threads is safe.
    private let storage: UnsafeMutableRawBufferPointer

    /// Makes `count` zero bytes and lets the closure overwrite them.
    public init<Failure: Error>(
        count: Int, writing body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        storage = .allocate(byteCount: count, alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        try body(storage)
    }

    /// Copies bytes, which the caller then wipes.
    public convenience init(copying bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Makes this many bytes with the system's generator.
    public convenience init(randomCount count: Int) {
        var generator = SystemRandomNumberGenerator()
        self.init(count: count) { buffer in
            for index in buffer.indices { buffer[index] = generator.next() }
        }
    }

    /// The number of bytes.
    public var count: Int { storage.count }

    /// Lends the bytes; the pointer is invalid afterwards.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage))
    }

    deinit {
        Self.wipe(storage)
        storage.deallocate()
    }

    /// Overwrites memory in a way that the compiler must not optimise away.
    static func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let start = buffer.baseAddress else { return }
        #if canImport(Darwin)
            memset_s(start, buffer.count, 0, buffer.count)
        #else
            explicit_bzero(start, buffer.count)
        #endif
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    /// A fixed name, never the bytes.
    public var description: String { "SecretBytes" }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension [UInt8] {
    /// Overwrites a short-lived copy of secret bytes. Use it on arrays that are not shared.
    package mutating func wipe() {
        withUnsafeMutableBytes { SecretBytes.wipe($0) }
    }
}
