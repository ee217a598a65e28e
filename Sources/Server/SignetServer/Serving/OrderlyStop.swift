// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle

extension ServiceGroup {
    /// Runs; when the task is cancelled, the group stops as it does for a signal.
    ///
    /// A cancelled loop of accepted connections would let go of those that it has not begun to serve, and NIO ends the
    /// process for that.
    func runToItsEnd() async throws {
        let running = Task { try await run() }
        try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            Task { await triggerGracefulShutdown() }
        }
    }
}
