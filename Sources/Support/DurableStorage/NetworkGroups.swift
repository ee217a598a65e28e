// SPDX-License-Identifier: Apache-2.0

/// Whose network counts as one where what strangers brought is given up: a provider's, a site's, a client's.
package enum NetworkGroups {
    /// SQL for the group of a row, the widest first: a provider's (IPv4 /16, IPv6 /32), a site's (/24, /48), a client's. The row's
    /// column `network` holds `ClientAddress.network`: 4 and zeros, or 6, before the address; or nothing.
    ///
    /// - Parameter count: how many arguments the statement has before ``six`` and ``nothing``.
    package static func columns(after count: Int) -> [String] {
        let (six, nothing) = ("?\(count + 1)", "?\(count + 2)")
        // SQLite has NULL for a part of nothing, PostgreSQL nothing.
        return [
            "COALESCE(substr(network, 1, CASE WHEN substr(network, 1, 1) = \(six) THEN 5 ELSE 7 END), \(nothing))",
            "COALESCE(substr(network, 1, CASE WHEN substr(network, 1, 1) = \(six) THEN 7 ELSE 8 END), \(nothing))",
            "network",
        ]
    }

    /// The first argument of ``columns(after:)``: how the address of an IPv6 client begins. A literal differs from engine to engine.
    package static let six: [UInt8] = [6]
    /// The second argument of ``columns(after:)``: no network.
    package static let nothing: [UInt8] = []
}
