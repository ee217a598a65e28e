// SPDX-License-Identifier: Apache-2.0

package import Logging
import Synchronization

/// The lines that are logged in a test, of every level: each message with its values, by their names.
package final class LogLines: LogHandler {
    private let all = Mutex<[String]>([])

    /// What was logged so far, in order, such as `nobody answered why=timed_out witness=w1`.
    package var lines: [String] { all.withLock { $0 } }

    /// Logs to these lines.
    package var logger: Logger { Logger(label: "test") { _ in self } }

    /// No lines.
    package init() {}

    /// Forgets what was logged so far.
    package func clear() { all.withLock { $0 = [] } }

    /// Every level, whatever it is set to.
    package var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    /// None: a line has its own alone.
    package var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    /// None.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    /// Takes a line down.
    package func log(event: LogEvent) {
        let values = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        all.withLock { $0.append((["\(event.message)"] + values).joined(separator: " ")) }
    }
}
