// SPDX-License-Identifier: Apache-2.0

import CPostgres

/// What a server says beside its answers. Only what it says during a commit counts.
final class PostgresNotices {
    private var isCommitting = false
    private var first: String?

    /// Hears the notices of a connection, which must not outlive this object.
    func listen(on handle: OpaquePointer) {
        PQsetNoticeReceiver(
            handle,
            { context, result in
                guard let context, let result else { return }
                let state = signet_pq_state(result).map { String(cString: $0) }
                Unmanaged<PostgresNotices>.fromOpaque(context).takeUnretainedValue().hear(state)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// A commit begins.
    func begin() { (isCommitting, first) = (true, nil) }

    /// The SQLSTATE of the first notice since ``begin()``; nil if there was none.
    func end() -> String? {
        isCommitting = false
        return first
    }

    private func hear(_ state: String?) {
        if isCommitting { first = first ?? state ?? "01000" }
    }
}
