// SPDX-License-Identifier: Apache-2.0

package import KeyDirectory
import ObjectStores
import PostgresStores
import S3Stores

/// Why a process did not open what several machines share.
public struct SharedSetupError: Error, Sendable {
    /// What it was.
    package enum Cause: Sendable {
        /// The engines were not connected.
        case engines(SharedEnginesError)
        /// The directory in them was not opened, or not taken over.
        case directory(SharedDirectoryError)
    }

    /// What it was.
    package let cause: Cause

    package init(_ error: SharedEnginesError) { cause = .engines(error) }

    package init(_ error: SharedDirectoryError) { cause = .directory(error) }

    /// Whether the same process may open it later, without anything that a person would have to decide. One that starts is not to try again
    /// if it is ``isTurnedAway``.
    package var isPassing: Bool {
        switch cause {
        case .directory(let error): error.isPassing
        case .engines(.databaseAway): true
        case .engines(.database(let error)): error.isPassing
        case .engines(.objects(.probe(.fault(let fault)))): fault.isPassing
        case .engines: false
        }
    }

    /// Whether the database does not let this process in.
    package var isTurnedAway: Bool {
        if case .engines(.database(let error)) = cause { error.isTurnedAway } else { false }
    }
}
