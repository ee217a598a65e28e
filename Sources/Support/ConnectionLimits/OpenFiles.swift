// SPDX-License-Identifier: Apache-2.0

import Platform

/// How many files, connections among them, this process may have open.
package enum OpenFiles {
    /// Half of what this process may have open, so that the other half is left to its own files: at least 16, at most so
    /// many; 128 if the limit is unknown.
    package static func half(atMost most: Int) -> Int {
        guard let granted else { return min(most, 128) }
        return Int(min(UInt64(max(16, most)), max(16, granted / 2)))
    }

    /// How many this process may have open; nil if that is unknown.
    package static var granted: UInt64? {
        var limit = rlimit()
        #if canImport(Glibc)
            let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        #else
            let isKnown = getrlimit(RLIMIT_NOFILE, &limit) == 0
        #endif
        return isKnown ? UInt64(limit.rlim_cur) : nil
    }
}
