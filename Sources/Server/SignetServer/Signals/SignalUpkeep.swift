// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import KeyDirectory
import ServiceLifecycle
import SignalBroker

/// Does what is due for signals, and asks the directory about inboxes without a reader, for as long as the server runs.
struct SignalUpkeep: Service {
    let exchange: any SignalExchange
    let directory: any DirectoryAnswering

    func run() async throws {
        await cancelWhenGracefulShutdown { await exchange.run(asking: isDevice) }
    }

    /// When the directory cannot say, it is one.
    @Sendable private func isDevice(_ device: CallDevice) async -> Bool {
        do throws(DirectoryError) { return try await directory.isDevice(device.signingKey) } catch { return true }
    }
}
