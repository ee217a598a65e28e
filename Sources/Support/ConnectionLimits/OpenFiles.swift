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

    /// What a directory's server has open besides connections of clients: 42 files when it is idle, and three for each event loop, of which
    /// there is one for each processor; the others are for those who read its databases at once, and for files that it opens for a moment.
    private static var needed: UInt64 { 96 + 3 * UInt64(max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))) }

    /// What it keeps free for that.
    private static var own: UInt64 { max(256, needed) }

    /// With fewer files, of which half are for connections (``connections(atMost:)``), a directory's server does not have what it needs.
    package static var least: UInt64 { 2 * needed }

    /// How many connections this process can hold and still open its own files; asks the system for more first if there are too few.
    /// Below 512 files that is half of them.
    ///
    /// A process that has no file left does not only refuse: libdispatch ends it where it cannot look at its own threads.
    package static func connections(atMost most: Int) -> Int {
        raise(to: max(UInt64(max(0, most)) + own, least))
        guard let granted else { return most }
        return Int(min(UInt64(max(0, most)), max(granted / 2, granted > own ? granted - own : 0)))
    }

    /// How many this process may have open; nil if that is unknown.
    package static var granted: UInt64? { limits.map { UInt64($0.rlim_cur) } }

    #if canImport(Glibc)
        private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let kind = RLIMIT_NOFILE
    #endif

    private static var limits: rlimit? {
        var limits = rlimit()
        return getrlimit(kind, &limits) == 0 ? limits : nil
    }

    /// As far as the system lets this process.
    private static func raise(to count: UInt64) {
        guard var limits, UInt64(limits.rlim_cur) < count else { return }
        limits.rlim_cur = min(limits.rlim_max, rlim_t(count))
        _ = setrlimit(kind, &limits)
    }
}
