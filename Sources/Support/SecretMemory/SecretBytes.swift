// SPDX-License-Identifier: Apache-2.0

/// Bytes that must not leave the program: not codable, not printable, and wiped when the last owner releases them.
///
/// Security: they are reachable only inside ``withBytes(_:)`` and ``withSpan(_:)``. Copies that a cryptographic library makes while
/// it works are left for that library to wipe.
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

    /// Copies bytes, which the caller then wipes.
    public convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { memory in
            for index in bytes.indices { memory[index] = bytes[index] }
        }
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
    ///
    /// - Throws: whatever `body` throws.
    ///
    /// Security: whatever copies the bytes must protect and wipe the copy.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(self) }
        return try body(UnsafeRawBufferPointer(storage))
    }

    /// Lends the bytes as ``withBytes(_:)`` does.
    ///
    /// - Throws: whatever `body` throws.
    public func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withBytes { memory throws(Failure) in
            try body(Span(_unsafeElements: memory.assumingMemoryBound(to: UInt8.self)))
        }
    }

    deinit {
        wipeMemory(storage)
        storage.deallocate()
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    /// A fixed name, never the bytes.
    public var description: String { "SecretBytes" }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
