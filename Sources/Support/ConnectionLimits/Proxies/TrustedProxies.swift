// SPDX-License-Identifier: Apache-2.0

/// The proxies that a server believes when they say whose connection or request they pass on.
package struct TrustedProxies: Hashable, Sendable {
    private let networks: Set<IPNetwork>

    /// No proxy at all.
    package static let none = TrustedProxies([])

    /// Proxies at addresses of these networks.
    package init(_ networks: some Sequence<IPNetwork>) { self.networks = Set(networks) }

    /// Whether there is none.
    package var isEmpty: Bool { networks.isEmpty }

    /// Whether one of them has this address.
    package func contains(_ address: IPAddress?) -> Bool {
        guard let address else { return false }
        return networks.contains { $0.contains(address) }
    }

    /// The client of a request that one of these proxies passed on.
    ///
    /// Each proxy adds the address that it was called from at the end. So the last one that is no proxy's counts, and what stands before it
    /// is the client's own claim.
    ///
    /// - Parameter values: those of the header fields `X-Forwarded-For`, in their order.
    /// - Returns: nil if there is none, or something that is not an address stands where it should be.
    package func client(forwardedFor values: [String]) -> IPAddress? {
        var last: IPAddress?
        for value in values.reversed() {
            for element in value.split(separator: ",", omittingEmptySubsequences: false).reversed() {
                guard let address = IPAddress(text: Self.trimmed(element)) else { return nil }
                guard contains(address) else { return address }
                last = address
            }
        }
        return last
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }

    /// The name of the header field that names the client of a request.
    package static let forwardedFor = "X-Forwarded-For"
}
