// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Logging
import ServiceLifecycle
import Synchronization

/// Looks, for as long as the server runs, whether something else has one of its databases locked, so that nothing can be written there: such
/// as a person's tool in a transaction that does not end.
final class DatabaseLocks: Service {
    /// How long a lock may last, in seconds. A copy or a checkpoint takes one for a moment, and the server itself waits for five seconds.
    static let patience = 3.0
    private static let pause: Duration = .seconds(5)
    private static let names = [
        "records/directory.sqlite", "notes/notes.sqlite", "recovery.sqlite", "signals.sqlite", "cards/tokens.sqlite",
    ]

    private let probes: [(name: String, probe: DurableLockProbe)]
    private let logger: Logger
    private let found = Mutex<[String]>([])

    /// Of the databases that are in a data directory now.
    ///
    /// - Parameter patience: another one, for tests.
    init(of data: DataDirectory, patience: Double = DatabaseLocks.patience, logger: Logger) {
        probes = Self.names.compactMap { name in
            DurableLockProbe(of: "\(data.path)/\(name)", patience: patience).map { (name, $0) }
        }
        self.logger = logger
    }

    /// The names of those that were locked when they were looked at last.
    var locked: [String] { found.withLock { $0 } }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.look()
                try? await Task.sleep(for: Self.pause)
            }
        }
        close()
    }

    /// Looks at each of them once, at all together.
    func look() async {
        let locked = await withTaskGroup(of: String?.self) { group in
            for (name, probe) in probes { group.addTask { await probe.isLocked() ? name : nil } }
            return await group.reduce(into: [String]()) { names, name in name.map { names.append($0) } }.sorted()
        }
        // A look that was broken off saw nothing.
        guard !Task.isCancelled else { return }
        let before = found.withLock { found in
            defer { found = locked }
            return found
        }
        for name in locked where !before.contains(name) {
            logger.error("another process has a database locked", metadata: ["file": "\(name)"])
        }
        for name in before where !locked.contains(name) {
            logger.notice("a database is not locked any more", metadata: ["file": "\(name)"])
        }
    }

    /// Lets go of the databases.
    func close() {
        for (_, probe) in probes { probe.close() }
    }
}
