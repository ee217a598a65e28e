// SPDX-License-Identifier: Apache-2.0

import ProcessTesting
import SignetServer

/// The real `signetd` as a process of its own.
typealias Daemon = DaemonProcess

extension DaemonProcess {
    /// Starts `signetd run` on any port; `wrapper` is a command that is given signetd's command line, `limits` are options.
    convenience init(
        _ data: DataDirectory, wrapper: [String] = [],
        limits: [String] = ["--rate", "0", "--account-rate", "0", "--registrations", "0"]
    ) throws {
        try self.init(
            "signetd",
            ["run", "--data", data.path, "--bind", "127.0.0.1:0", "--republish", "1", "--epoch", "0"] + limits,
            wrapper: wrapper)
    }
}
