// SPDX-License-Identifier: Apache-2.0

/// Whose network counts as one where what strangers brought is given up: a provider's, a site's, a client's.
package enum NetworkGroups {
    /// SQL for the group of a row, the widest first: a provider's (IPv4 /16, IPv6 /32), a site's (/24, /48), a client's. The row's
    /// column `network` holds `ClientAddress.network`: 4 and zeros, or 6, before the address; or nothing.
    package static let columns = [
        "ifnull(substr(network, 1, iif(substr(network, 1, 1) = x'06', 5, 7)), x'')",
        "ifnull(substr(network, 1, iif(substr(network, 1, 1) = x'06', 7, 8)), x'')", "network",
    ]
}
