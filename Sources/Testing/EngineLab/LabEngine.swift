// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The engines that the stores stand on, for suites that run on each of them.
package enum LabEngine: String, CaseIterable, Sendable {
    /// A file of this machine.
    case sqlite
    /// A database of a real server.
    case postgres

    /// That of the test that is running.
    @TaskLocal package static var current = sqlite

    /// Those that a suite runs on: the one that `SIGNET_TEST_ENGINE` names, or SQLite. `make engines` runs the suites on the other one, apart
    /// from those that wait for a time. One that is named and not here fails.
    package static var present: [LabEngine] { [named ?? .sqlite] }

    private static let named = ProcessInfo.processInfo.environment["SIGNET_TEST_ENGINE"].flatMap(LabEngine.init)
}
