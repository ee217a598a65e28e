// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The memory of this process that is resident now, and the most that was, in bytes.
public struct Resident {
    /// Now; not a number where there is no `/proc`.
    public let bytes: Double
    /// The most so far.
    public let peak: Double

    /// As the system counts it.
    public static var now: Resident {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            return Resident(bytes: pages() * Double(getpagesize()), peak: Double(usage.ru_maxrss) * 1024)
        #else
            getrusage(RUSAGE_SELF, &usage)
            return Resident(bytes: .nan, peak: Double(usage.ru_maxrss))
        #endif
    }

    /// The second number of `/proc/self/statm`.
    private static func pages() -> Double {
        guard let file = fopen("/proc/self/statm", "r") else { return .nan }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return .nan }
        let numbers = line.prefix { $0 != 0 }.split(separator: CChar(UInt8(ascii: " ")))
        guard numbers.count > 1 else { return .nan }
        return numbers[1].reduce(0) { $0 * 10 + Double($1) - Double(UInt8(ascii: "0")) }
    }
}
