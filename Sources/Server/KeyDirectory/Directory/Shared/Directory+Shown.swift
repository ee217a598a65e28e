// SPDX-License-Identifier: Apache-2.0

import LogEngine
import SignetAPI
import TransparencyLog

// What this process has accepted, and another one logs.
extension Directory {
    /// How long a request waits for that. It is written by then, and the same request gets its receipt later.
    static let patience = Duration.seconds(10)

    /// Waits until a published checkpoint that this process has covers an entry.
    ///
    /// - Throws: ``DirectoryError``; `unavailable`: not within ``patience``. A retry helps.
    func shown(_ leaf: TreeHash?) async throws(DirectoryError) -> StateReceipt {
        guard let leaf else { throw .refused(.unavailable) }
        let receipt = await withTaskGroup(of: StateReceipt?.self) { group in
            group.addTask { await self.receipt(of: leaf) }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let receipt else { throw .refused(.unavailable) }
        return receipt
    }

    /// Waits for the next checkpoint of the process that writes the log, for ``patience`` at most.
    ///
    /// - Returns: whether it came.
    func seesNewCheckpoint() async -> Bool {
        let log = log
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { (try? await log.republish()) != nil }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// - Returns: nil if the log shows nothing new any more.
    private func receipt(of leaf: TreeHash) async -> StateReceipt? {
        while true {
            let size = log.published.head.size
            if let index = log.index(ofLeaf: leaf) {
                return StateReceipt(index: index, size: log.published.head.size)
            }
            do { _ = try await log.awaitPublished(size: size + 1) } catch { return nil }
        }
    }
}
