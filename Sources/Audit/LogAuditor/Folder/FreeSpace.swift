// SPDX-License-Identifier: Apache-2.0

import Platform

extension AuditFolder {
    /// How many bytes this user may still write where a folder is; nil: unknown.
    package static func freeByteCount(_ path: String) -> UInt64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
    }
}
