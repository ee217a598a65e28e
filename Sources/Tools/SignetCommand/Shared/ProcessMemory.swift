// SPDX-License-Identifier: Apache-2.0

import Platform

/// Keeps what is in the program's memory off the disk: opened keys, passphrases and notes are there while it runs.
enum ProcessMemory {
    #if canImport(Glibc)
        private static let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    #else
        private static let core = RLIMIT_CORE
    #endif

    /// No core dump of this program is written, nor of one that it starts.
    static func writeNoCore() {
        var limits = rlimit()
        guard getrlimit(core, &limits) == 0 else { return }
        // One byte, not none: at a limit of one Linux does not hand the dump to another program either.
        limits.rlim_max = min(limits.rlim_max, 1)
        limits.rlim_cur = limits.rlim_max
        setrlimit(core, &limits)
    }
}
