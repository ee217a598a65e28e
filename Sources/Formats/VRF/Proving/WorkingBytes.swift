// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import CSodium

    /// Working memory for a secret value that lives during one proof; wiped when its scope ends.
    struct WorkingBytes: ~Copyable {
        private let memory: UnsafeMutablePointer<UInt8>
        private let count: Int

        /// `count` bytes, zero at first.
        init(count: Int) {
            self.count = count
            memory = .allocate(capacity: count)
            memory.initialize(repeating: 0, count: count)
        }

        deinit {
            sodium_memzero(memory, count)
            memory.deallocate()
        }

        /// Lends the bytes. The pointer must not outlive `body`.
        borrowing func withPointer<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result {
            defer { extendLifetime(self) }
            return body(memory)
        }
    }
#endif
