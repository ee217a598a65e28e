// SPDX-License-Identifier: Apache-2.0

/// Which paths every engine can keep: 1 to 900 printable ASCII characters, in components of 1 to 200 between `/`, of which none begins
/// with a dot.
///
/// ASCII, because stores and file systems disagree on which other characters are the same; a folder that knows no case is the
/// operator's to avoid. Names with a dot in front belong to the engines. No object is at a path that is a folder of another's.
package enum ObjectPath {
    /// How many bytes a path has at most: S3 allows 1,024, with the prefix of the configuration.
    package static let maximumByteCount = 900
    /// How many bytes a component has at most: file systems allow 255.
    package static let maximumComponentByteCount = 200

    /// Whether an object can be at a path.
    package static func isValid(_ path: String) -> Bool {
        path.utf8.count <= maximumByteCount && isPrintable(path)
            && path.utf8.split(separator: slash, omittingEmptySubsequences: false).allSatisfy {
                (1...maximumComponentByteCount).contains($0.count) && $0.first != dot
            }
    }

    /// Whether paths can begin like this.
    package static func isValidPrefix(_ prefix: String) -> Bool {
        prefix.utf8.count <= maximumByteCount && isPrintable(prefix)
    }

    /// - Throws: ``ObjectFault/invalidPath``.
    package static func check(_ path: String) throws(ObjectFault) {
        guard isValid(path) else { throw .invalidPath }
    }

    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    private static func isPrintable(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7e).contains($0) } }
}
