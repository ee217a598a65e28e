// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import CSodium

    /// libsodium, started once for the process. True when it is ready.
    let sodiumIsReady: Bool = sodium_init() >= 0

    /// A secret scalar in libsodium's guarded memory: locked where the system allows, read-only, wiped at the end.
    ///
    /// It has no description and no coding, and nothing but ``withBytes(_:)`` reaches the bytes.
    /// Unchecked: the memory is written before `init` returns and only read until `deinit`.
    final class VRFSecret: @unchecked Sendable {
        private static let byteCount = Int(crypto_core_ristretto255_SCALARBYTES)
        private let memory: UnsafeMutablePointer<UInt8>

        /// Copies 32 bytes, little-endian.
        ///
        /// - Throws: ``VRFKeyError``: wrong length, zero, not below the group order, or no memory.
        init(copying bytes: Span<UInt8>) throws(VRFKeyError) {
            guard bytes.count == Self.byteCount else { throw .invalidLength(bytes.count) }
            memory = try Self.allocate()
            for index in 0..<Self.byteCount { memory[index] = bytes[index] }
            sodium_mprotect_readonly(memory)
            guard sodium_is_zero(memory, Self.byteCount) == 0 else { throw .scalarIsZero }
            let order = PublicScalar.order.bytes
            guard sodium_compare(memory, order, Self.byteCount) == -1 else { throw .scalarNotCanonical }
        }

        /// A scalar from the system's random source, uniform from 1 to the group order minus 1.
        ///
        /// - Throws: ``VRFKeyError/sodiumUnavailable``.
        init() throws(VRFKeyError) {
            memory = try Self.allocate()
            crypto_core_ristretto255_scalar_random(memory)
            sodium_mprotect_readonly(memory)
        }

        // Wipes before it frees.
        deinit { sodium_free(memory) }

        /// Lends the 32 bytes, little-endian. The pointer must not outlive `body`.
        func withBytes<Result, Failure: Error>(
            _ body: (UnsafePointer<UInt8>) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            defer { extendLifetime(self) }
            return try body(memory)
        }

        private static func allocate() throws(VRFKeyError) -> UnsafeMutablePointer<UInt8> {
            guard sodiumIsReady, let memory = sodium_malloc(byteCount) else { throw .sodiumUnavailable }
            return memory.bindMemory(to: UInt8.self, capacity: byteCount)
        }
    }
#endif
