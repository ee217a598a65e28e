// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import KeyDirectory
import ServiceLifecycle
import SignalBroker

/// Keeps the hub's time, writes what it has to write, and asks the directory about inboxes without a reader, for as
/// long as the server runs.
struct SignalUpkeep: Service {
    let hub: SignalHub
    let directory: any DirectoryAnswering

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await hub.run() }
                group.addTask { await forgetStrangers() }
            }
        }
    }

    /// A signal is accepted before it is known whether its recipient exists: asking first would make all signals wait
    /// for the database. A device is asked for when it connects; one that is revoked later loses its connection here.
    private func forgetStrangers() async {
        var known: Set<CallDevice> = []
        var last: SessionID?
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            await hub.forgetStrangers(&known, unless: isDevice)
            await hub.endRevoked(after: &last, unless: isDevice)
        }
    }

    /// When the directory cannot say, it is one.
    @Sendable private func isDevice(_ device: CallDevice) async -> Bool {
        do throws(DirectoryError) { return try await directory.isDevice(device.signingKey) } catch { return true }
    }
}
