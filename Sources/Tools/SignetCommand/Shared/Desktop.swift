// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The desktop on which the command runs.
enum Desktop {
    /// Has it open an address or a file. What is to be opened is printed as well, so nothing is lost if there is no desktop.
    ///
    /// Security: other users of this machine see the address while the process begins.
    static func open(_ address: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        #if os(macOS)
            process.arguments = ["open", address]
        #else
            process.arguments = ["xdg-open", address]
        #endif
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try? process.run()
    }
}
