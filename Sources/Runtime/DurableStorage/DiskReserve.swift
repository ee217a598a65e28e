#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Free space that notes, signals and letters leave alone, because the directory is on the same disk: registrations,
/// revocations and objections have to be written also when somebody has filled the rest.
package struct DiskReserve: Sendable {
    /// Of a file system the smaller of this, in bytes, and an eighth of it.
    static let byteCount: UInt64 = 256 << 20

    /// Whether nothing more is to be taken.
    package let isReached: @Sendable () -> Bool

    /// The reserve of the file system that holds a file. One that cannot be asked has room.
    package init(besideFileAt path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        isReached = {
            var system = statvfs()
            guard statvfs(folder, &system) == 0 else { return false }
            return Self.isReached(
                free: UInt64(system.f_bavail) * UInt64(system.f_frsize),
                of: UInt64(system.f_blocks) * UInt64(system.f_frsize))
        }
    }

    /// For tests.
    package init(isReached: @escaping @Sendable () -> Bool) { self.isReached = isReached }

    package static func isReached(free: UInt64, of total: UInt64) -> Bool { free < min(byteCount, total / 8) }
}
