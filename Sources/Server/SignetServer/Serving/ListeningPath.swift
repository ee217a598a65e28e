// SPDX-License-Identifier: Apache-2.0

import Platform

/// A Unix socket at which a server listens for a proxy on this machine.
///
/// Security: whoever can open the socket is believed about whose requests they pass on. Its mode is 0660: the server's user and group.
struct ListeningPath: Sendable {
    let path: String

    /// Demands that nothing is there but a socket at which nothing listens any more, which the listener replaces.
    ///
    /// - Throws: ``ServerStop/pathInUse``.
    func prepare() throws(ServerStop) {
        guard let status = FileStatus(ofEntry: path) else { return }
        guard status.isSocket, LocalSocket.isAbandoned(path) else { throw .pathInUse }
    }

    /// Lets the group of the server's user connect. The listener removes the socket at the end.
    func began() { chmod(path, 0o660) }
}
