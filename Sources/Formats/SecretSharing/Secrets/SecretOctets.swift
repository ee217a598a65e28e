// SPDX-License-Identifier: Apache-2.0

/// Bytes that are secret: wiped when their last owner lets go, reachable through a closure, not codable, not printable.
///
/// Unchecked: written before `init` returns and only read afterwards.
public final class SecretOctets: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer

    /// How many bytes.
    public var count: Int { memory.count }

    /// Copies bytes.
    ///
    /// Security: wipe the memory behind `bytes` afterwards.
    public convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { memory in
            for index in bytes.indices { memory[index] = bytes[index] }
        }
    }

    /// `count` zero bytes, which `body` fills.
    init<Failure: Error>(
        count: Int, writing body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        memory = .allocate(byteCount: count, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        try body(memory)
    }

    /// Lends the bytes.
    ///
    /// - Throws: any error that `body` throws.
    ///
    /// Security: code that copies the bytes must protect and wipe the copy.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withMemory { memory throws(Failure) in
            try body(Span(_unsafeElements: memory.assumingMemoryBound(to: UInt8.self)))
        }
    }

    /// Lends the bytes. The pointer must not outlive `body`.
    func withMemory<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(self) }
        return try body(UnsafeRawBufferPointer(memory))
    }

    deinit {
        wipe(memory)
        memory.deallocate()
    }
}

extension SecretOctets: CustomStringConvertible, CustomReflectable {
    /// Never the bytes.
    public var description: String { "SecretOctets" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Overwrites memory. It is not optimised, because the optimiser would remove stores to memory that is never read
/// again.
@inline(never) @_optimize(none)
private func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    for index in memory.indices { memory[index] = 0 }
}

extension Array where Element: FixedWidthInteger {
    /// Overwrites a short-lived copy of a secret, which must not be shared.
    package mutating func wipeSecret() { withUnsafeMutableBytes { wipe($0) } }
}
