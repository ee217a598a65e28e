// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import NoteStore

/// A number of bytes as an operator writes it: `5GB`, `512MiB`, `1000000`.
struct ByteSize: Hashable, CustomStringConvertible {
    let byteCount: UInt64

    /// As it may be typed.
    var description: String { byteCount.isMultiple(of: 1 << 20) ? "\(byteCount >> 20)MiB" : "\(byteCount)" }

    private static let units: [(name: String, byteCount: UInt64)] = [
        ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
        ("", 1),
    ]

    /// What the notes of an account may take by default: 1 GiB.
    static let ofNotes = ByteSize(byteCount: NoteLimits().bytes)

    private init(byteCount: UInt64) { self.byteCount = byteCount }

    /// - Throws: `ValidationError`.
    init(typed text: String) throws {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = UInt64(digits),
            let unit = Self.units.first(where: { $0.name == text.dropFirst(digits.count) }),
            case let (byteCount, isTooMuch) = number.multipliedReportingOverflow(by: unit.byteCount), !isTooMuch,
            byteCount <= NoteArchive.maximumQuota
        else {
            throw ValidationError("a size looks like 5GB, 512MiB or 1000000; at most 1 PiB")
        }
        self.byteCount = byteCount
    }
}
