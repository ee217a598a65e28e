// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import CSodium
#endif

extension [UInt8] {
    /// Overwrites a short-lived copy of secret bytes. For arrays that nothing else shares.
    mutating func wipe() {
        withUnsafeMutableBytes { buffer in
            #if canImport(CSodium)
                if let start = buffer.baseAddress { sodium_memzero(start, buffer.count) }
            #else
                for index in buffer.indices { buffer[index] = 0 }
            #endif
        }
    }
}
