// SPDX-License-Identifier: Apache-2.0

import Platform

/// Overwrites memory with zeros, in a way that the compiler must not leave out.
package func wipeMemory(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress else { return }
    #if canImport(Darwin)
        memset_s(start, memory.count, 0, memory.count)
    #else
        explicit_bzero(start, memory.count)
    #endif
}

extension Array where Element: FixedWidthInteger {
    /// Overwrites a short-lived copy of a secret. The array must not share its storage, because otherwise only a copy
    /// is wiped.
    package mutating func wipe() { withUnsafeMutableBytes(wipeMemory) }
}
