// SPDX-License-Identifier: Apache-2.0

/// What a clock of the system shows, in seconds: nil if it has no such clock.
package func seconds(of clock: clockid_t) -> Double? {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return nil }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The processor time of this process in seconds, in its own code and in the system for it; nil if it cannot be asked.
package func processorSeconds() -> Double? {
    #if canImport(Glibc)
        let own = RUSAGE_SELF.rawValue
    #else
        let own = RUSAGE_SELF
    #endif
    var usage = rusage()
    guard getrusage(own, &usage) == 0 else { return nil }
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
}
