// SPDX-License-Identifier: Apache-2.0

import Platform

/// The metrics of the process, under the names that Prometheus's client libraries use. A value that the system does not
/// provide is left out.
///
/// Spec: Prometheus, "Writing client libraries", "Process metrics".
package struct ProcessSource: MetricSource {
    private let version: String
    private let start = Self.startTime()

    /// The metrics of this process.
    ///
    /// - Parameter version: of the program, for the label of `signet_build_info`.
    package init(version: String) { self.version = version }

    package func samples() -> [MetricSample] {
        var samples = [MetricSample(.build, 1.0, ("version", version))]
        if let start { samples.append(MetricSample(.startTime, start)) }
        if let time = processorSeconds() { samples.append(MetricSample(.processorTime, time)) }
        if let bytes = Self.residentBytes() { samples.append(MetricSample(.residentBytes, bytes)) }
        if let count = Self.openFileCount() { samples.append(MetricSample(.openFiles, count)) }
        if let count = Self.maximumFileCount() { samples.append(MetricSample(.maximumFiles, count)) }
        return samples
    }

    #if canImport(Glibc)
        private static let fileLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let fileLimit = RLIMIT_NOFILE
    #endif

    private static func maximumFileCount() -> UInt64? {
        var limit = rlimit()
        guard getrlimit(fileLimit, &limit) == 0 else { return nil }
        return UInt64(limit.rlim_cur)
    }

    /// Counts the open files. Their folder has an entry for each, and one more for the folder itself while it is read.
    private static func openFileCount() -> UInt64? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count: UInt64 = 0
        while let entry = readdir(folder) { if entry.pointee.d_name.0 != 0x2E { count += 1 } }
        return count > 0 ? count - 1 : nil
    }

    private static func residentBytes() -> UInt64? {
        let words = words(of: "/proc/self/statm")
        guard words.count > 1, let pages = UInt64(words[1]) else { return nil }
        return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Reads the start of the process, which the kernel gives in ticks since the machine started.
    private static func startTime() -> Double? {
        #if canImport(Glibc)
            // The name of the program, in parentheses, may have spaces and parentheses in it.
            let words = words(of: "/proc/self/stat", after: ")")
            let ticks = sysconf(Int32(_SC_CLK_TCK))
            guard words.count > 19, let start = Double(words[19]), ticks > 0,
                let now = seconds(of: CLOCK_REALTIME), let sinceBoot = seconds(of: CLOCK_BOOTTIME)
            else { return nil }
            return now - sinceBoot + start / Double(ticks)
        #else
            return nil
        #endif
    }

    private static func words(of path: String, after mark: Character? = nil) -> [Substring] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let start = mark.flatMap { text.lastIndex(of: $0) }.map { text.index(after: $0) } ?? text.startIndex
        return text[start...].split { $0 == " " || $0 == "\n" }
    }
}
