// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Overwrites a secret before its memory is given back.
package func wipe(_ secret: inout [UInt8]) {
    secret.withUnsafeMutableBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        #if canImport(Glibc)
            explicit_bzero(start, bytes.count)
        #else
            memset_s(start, bytes.count, 0, bytes.count)
        #endif
    }
}
