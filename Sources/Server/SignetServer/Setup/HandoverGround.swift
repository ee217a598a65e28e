// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform

/// What a handover requires of the disks before it ends a log permanently.
struct HandoverGround: Sendable {
    /// Kept free beside everything that is to be written, in bytes.
    static let reserve: UInt64 = 64 << 20

    /// The directory that ends.
    let old: DataDirectory
    /// Where the new one is to be.
    let successor: DataDirectory
    let disks: HandoverDisks

    /// Refuses what could not be completed.
    ///
    /// - Throws: ``HandoverError``. Nothing was written.
    func check() throws(HandoverError) {
        for folder in [old.path, parent] {
            guard access(folder, W_OK | X_OK) == 0 else { throw .notWritable(FileFailure(folder)) }
        }
        guard let free = disks.freeByteCount(parent) else { throw .notWritable(FileFailure(parent)) }
        let needed = neededByteCount
        guard free >= needed else { throw .tooLittleSpace(needed: needed, free: free) }
    }

    /// The successor gets a copy of what the database has of each account, and all the rest that is on another disk.
    private var neededByteCount: UInt64 {
        let accounts = Self.byteCount(of: old.records + "/directory.sqlite")
        let copied =
            disks.areOne(old.path, parent) ? 0 : InheritedPart.allCases.map { $0.byteCount(in: old) }.reduce(0, +)
        return 2 * accounts + copied + Self.reserve
    }

    private var parent: String {
        guard let slash = successor.path.lastIndex(of: "/") else { return "." }
        return slash == successor.path.startIndex ? "/" : String(successor.path[..<slash])
    }

    static func byteCount(of path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }
}

/// The calls of a handover to the operating system that tests let fail.
package struct HandoverDisks: Sendable {
    /// rename(2); 0 or an `errno`.
    package var rename: @Sendable (String, String) -> Int32
    /// How many bytes this user may still write where a folder is; nil: unknown.
    package var freeByteCount: @Sendable (String) -> UInt64?
    /// Whether a rename leads from one folder into the other.
    package var areOne: @Sendable (String, String) -> Bool

    /// Those of the system.
    package static let system = HandoverDisks(
        rename: { systemRename($0, $1) == 0 ? 0 : errno },
        freeByteCount: { FileSystemRoom(holding: $0)?.free },
        areOne: { first, second in
            let numbers = [first, second].map { folder in
                (try? FileManager.default.attributesOfItem(atPath: folder))?[.systemNumber] as? NSNumber
            }
            return numbers[0] != nil && numbers[0] == numbers[1]
        })
}

private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }
