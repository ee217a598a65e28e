// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import CSodium

    /// libsodium, started once for the process. True when it is ready.
    let sodiumIsReady: Bool = sodium_init() >= 0

    /// Working memory for a secret value, wiped when its scope ends.
    struct WipedBytes: ~Copyable {
        private let memory: UnsafeMutablePointer<UInt8>
        let count: Int

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
        borrowing func withPointer<Result, Failure: Error>(
            _ body: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            defer { extendLifetime(self) }
            return try body(memory)
        }
    }
#endif
