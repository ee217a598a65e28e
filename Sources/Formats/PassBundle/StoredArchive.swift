// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A ZIP archive whose files are stored as they are, all of them dated the first of January 1980: two archives of the same files are
/// equal, and an archive does not say when it was made.
///
/// Spec: APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.
enum StoredArchive {
    /// - Parameter files: names of ASCII characters without a slash, each once; all together less than 4 GiB.
    static func encoded(_ files: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        var archive: [UInt8] = []
        var directory: [UInt8] = []
        for file in files {
            let offset = UInt32(truncatingIfNeeded: archive.count)
            let entry = entry(file.name, file.bytes)
            archive += little(UInt32(0x0403_4B50)) + entry + Array(file.name.utf8) + file.bytes
            // No remark, no attributes, on the first disk.
            directory +=
                little(UInt32(0x0201_4B50)) + little(UInt16(20)) + entry + little(UInt16(0)) + little(UInt16(0))
            directory += little(UInt16(0)) + little(UInt32(0)) + little(offset) + Array(file.name.utf8)
        }
        let count = UInt16(truncatingIfNeeded: files.count)
        let end =
            little(UInt32(0x0605_4B50)) + little(UInt16(0)) + little(UInt16(0)) + little(count) + little(count)
            + little(UInt32(truncatingIfNeeded: directory.count)) + little(UInt32(truncatingIfNeeded: archive.count))
            + little(UInt16(0))
        return archive + directory + end
    }

    /// What a file's header and its line in the directory have in common: version 2.0, no flags, stored, the date, checksum, twice the length,
    /// length of the name, nothing extra.
    private static func entry(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        let length = little(UInt32(truncatingIfNeeded: bytes.count))
        return little(UInt16(20)) + little(UInt16(0)) + little(UInt16(0)) + little(UInt16(0)) + little(UInt16(0x21))
            + little(CRC32.checksum(of: bytes)) + length + length + little(UInt16(truncatingIfNeeded: name.utf8.count))
            + little(UInt16(0))
    }

    private static func little(_ number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
