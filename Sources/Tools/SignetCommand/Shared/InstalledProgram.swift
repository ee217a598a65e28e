// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform

/// Programs of the system that this one starts.
enum InstalledProgram {
    /// Where it is, on the user's path; nil if it is not installed.
    static func find(_ name: String) -> URL? {
        (Environment.value("PATH") ?? "/usr/bin").split(separator: ":").map { URL(filePath: "\($0)/\(name)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path()) }
    }
}
