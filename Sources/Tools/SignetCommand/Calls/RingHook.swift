// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Foundation
import Signet
import SignetCalls
import Synchronization

/// A command of the user's that is run when it rings, and when it rings no more: it may play a sound, or wake a telephone.
///
/// Security: it gets what is named in ``names`` and four variables of the ring, so nothing that was in this program's environment and is
/// secret. Handles are text without a space or a quote.
final class RingHook: Sendable {
    /// What of the environment it gets.
    private static let names = [
        "PATH", "HOME", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
    ]
    /// More than this many do not run at once.
    private static let capacity = 8
    /// What another program of the user's gets.
    static var environment: [String: String] {
        let kept = names.compactMap { name in Environment.value(name).map { (name, $0) } }
        return Dictionary(kept) { first, _ in first }
    }

    private let command: String
    private let running = Mutex(0)

    init(_ command: String) { self.command = command }

    /// Runs the command, and does not wait for it.
    func run(_ event: String, _ call: IncomingCall) {
        run([
            "SIGNET_RING": event, "SIGNET_CALLER": "\(call.caller)", "SIGNET_CALL": CallName.text(call.ring.callID),
            "SIGNET_SECONDS": "\(call.ring.ring.duration)",
        ])
    }

    func missed(_ caller: String) { run(["SIGNET_RING": "missed", "SIGNET_CALLER": caller]) }

    private func run(_ particulars: [String: String]) {
        guard running.withLock({ $0 < Self.capacity }) else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = Self.environment.merging(particulars) { _, new in new }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.terminationHandler = { [self] _ in running.withLock { $0 -= 1 } }
        running.withLock { $0 += 1 }
        do { try process.run() } catch {
            running.withLock { $0 -= 1 }
            Output.error("The --on-ring command cannot be run.")
        }
    }
}
