// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file on the disk that is measured, filled before, so that a sync writes data only.
final class BareDisk {
    private let descriptor: Int32
    private let byteCount = 64 << 20
    private var offset = 0

    init(at path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw DiskError(code: errno) }
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        for piece in 0..<byteCount / zeros.count { try put(zeros, at: piece * zeros.count) }
        guard fsync(descriptor) == 0 else { throw DiskError(code: errno) }
    }

    deinit { close(descriptor) }

    /// Writes `bytes` in as many parts as there are sync points, each followed by one.
    func write(_ bytes: [UInt8], syncPoints: Int) throws {
        if offset + bytes.count > byteCount { offset = 0 }
        let part = (bytes.count + syncPoints - 1) / syncPoints
        for start in stride(from: 0, to: bytes.count, by: part) {
            try put(Array(bytes[start..<min(start + part, bytes.count)]), at: offset + start)
            guard fdatasync(descriptor) == 0 else { throw DiskError(code: errno) }
        }
        offset += bytes.count
    }

    private func put(_ bytes: [UInt8], at offset: Int) throws {
        let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        guard count == bytes.count else { throw DiskError(code: errno) }
    }
}

/// The disk refused.
struct DiskError: Error {
    let code: Int32
}
