// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Copies of every descriptor that this process has for a file or folder, like those that a program being started holds between
/// its fork and its exec.
package final class DescriptorCopies {
    /// One copy for each open descriptor of the file.
    package let numbers: [Int32]

    /// Copies the descriptors of the file or folder at `path`.
    ///
    /// - Throws: a system error if the list of this process's descriptors cannot be read.
    package init(of path: String) throws {
        var wanted = stat()
        guard stat(path, &wanted) == 0 else { throw CocoaError(.fileNoSuchFile) }
        numbers = try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").compactMap(Int32.init).filter {
            var found = stat()
            return fstat($0, &found) == 0 && found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino
        }.map { dup($0) }
    }

    deinit { for number in numbers { close(number) } }
}
