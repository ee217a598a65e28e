// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform

/// Tells systemd how the server is, if systemd started it and asked. Elsewhere nothing happens.
///
/// Spec: sd_notify(3), "Description" and "Notes"; sd_watchdog_enabled(3).
enum SystemdNotification {
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    /// Connections are accepted from now on. While tasks are run, the watchdog hears of it twice in its time.
    static func listening() {
        tell(.ready)
        guard let interval = watchdogInterval(ProcessInfo.processInfo.environment) else { return }
        Task.detached {
            while true {
                tell(.alive)
                try? await Task.sleep(for: interval / 2)
            }
        }
    }

    static func stopping() { tell(.stopping) }

    /// After how long the watchdog ends the process; nil if there is none, or it watches another process.
    static func watchdogInterval(_ environment: [String: String]) -> Duration? {
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), microseconds > 0 else { return nil }
        if let process = environment["WATCHDOG_PID"], process != "\(ProcessInfo.processInfo.processIdentifier)" {
            return nil
        }
        return .microseconds(microseconds)
    }

    private static func tell(_ state: State) {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] else { return }
        send(Array(state.rawValue.utf8), to: Array(path.utf8))
    }

    /// A datagram to a socket of the file system, or an abstract one, whose name begins with @. One that cannot be sent is lost.
    private static func send(_ bytes: [UInt8], to path: [UInt8]) {
        #if canImport(Glibc)
            var address = sockaddr_un()
            let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
            guard path.first == 0x2F || path.first == 0x40, path.count < MemoryLayout.size(ofValue: address.sun_path)
            else { return }
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { place in
                place.copyBytes(from: path)
                if path.first == 0x40 { place[0] = 0 }
            }
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    _ = sendto(
                        descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address,
                        socklen_t(offset + path.count))
                }
            }
        #endif
    }
}
