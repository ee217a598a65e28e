// SPDX-License-Identifier: Apache-2.0

/// Working memory for a secret value, wiped when its scope ends.
package struct WipedBytes: ~Copyable {
    private let memory: UnsafeMutablePointer<UInt8>
    /// How many bytes.
    package let count: Int

    /// `count` bytes, zero at first.
    package init(count: Int) {
        self.count = count
        memory = .allocate(capacity: count)
        memory.initialize(repeating: 0, count: count)
    }

    deinit {
        wipeMemory(UnsafeMutableRawBufferPointer(start: memory, count: count))
        memory.deallocate()
    }

    /// Lends the bytes. The pointer must not outlive `body`.
    package borrowing func withPointer<Result, Failure: Error>(
        _ body: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(self) }
        return try body(memory)
    }
}
