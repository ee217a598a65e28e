// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectionLimits

/// Networks of addresses, as RFC 4632 and RFC 4291 write them.
struct IPNetworkTests {
    /// The network, an address of it at each end, and the addresses beside it. The first is the one of RFC 4632, section 3.1.
    @Test(arguments: [
        ("10.24.0.0/13", ["10.24.0.0", "10.31.255.255"], ["10.23.255.255", "10.32.0.0"]),
        ("192.0.2.0/24", ["192.0.2.0", "192.0.2.255", "::ffff:192.0.2.7"], ["192.0.1.255", "192.0.3.0"]),
        ("192.0.2.6/31", ["192.0.2.6", "192.0.2.7"], ["192.0.2.5", "192.0.2.8"]),
        ("192.0.2.6/32", ["192.0.2.6"], ["192.0.2.5", "192.0.2.7"]),
        ("192.0.2.6", ["192.0.2.6"], ["192.0.2.5", "192.0.2.7"]),
        ("128.0.0.0/1", ["128.0.0.0", "255.255.255.255"], ["127.255.255.255", "8000::"]),
        (
            "2001:db8::/32", ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["2001:db7:ffff::", "2001:db9::", "32.1.13.184"]
        ),
        ("2001:db8::8/125", ["2001:db8::8", "2001:db8::f"], ["2001:db8::7", "2001:db8::10"]),
        ("2001:db8::1/128", ["2001:db8::1"], ["2001:db8::", "2001:db8::2"]),
    ])
    func aNetworkHasTheAddressesThatBeginAsItDoes(_ text: String, _ inside: [String], _ outside: [String]) throws {
        let network = try #require(IPNetwork(text: text))
        for address in inside { #expect(network.contains(try #require(IPAddress(text: address))), "\(address)") }
        for address in outside { #expect(!network.contains(try #require(IPAddress(text: address))), "\(address)") }
    }

    /// Every prefix of an address, against the same address with one bit changed: a change counts within the prefix only.
    @Test(arguments: ["203.0.113.77", "2001:db8:85a3:1234:5678:8a2e:370:7334"])
    func aBitCountsWithinThePrefixOnly(_ text: String) throws {
        let address = try #require(IPAddress(text: text))
        let bits = address.bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        for count in 1...bits.count {
            let begin = bits.prefix(count) + [UInt8](repeating: 0, count: bits.count - count)
            let network = try #require(IPNetwork(text: "\(Self.text(Array(begin)))/\(count)"))
            for changed in bits.indices {
                var other = bits
                other[changed] ^= 1
                let isInside = network.contains(try #require(IPAddress(text: Self.text(other))))
                #expect(isInside == (changed >= count), "bit \(changed) of a prefix of \(count)")
            }
        }
    }

    @Test(arguments: ["192.0.2.0/0", "::/0"])
    func everybodysAddressesAreNoNetwork(_ text: String) { #expect(IPNetwork(text: text) == nil) }

    @Test(arguments: ["192.0.2.1/24", "192.0.2.1/31", "2001:db8::1/64", "2001:db8::1/127"])
    func anAddressWithBitsAfterItsPrefixIsNoNetwork(_ text: String) { #expect(IPNetwork(text: text) == nil) }

    @Test(arguments: ["::ffff:192.0.2.0/24", "::ffff:192.0.2.0/120"])
    func anIPv4NetworkIsNotWrittenAsIPv6(_ text: String) { #expect(IPNetwork(text: text) == nil) }

    @Test(arguments: ["192.0.2.0/024", "192.0.2.0/+24", "192.0.2.0/-8", "192.0.2.0/ 24"])
    func theNumberOfBitsIsWrittenInOneWay(_ text: String) { #expect(IPNetwork(text: text) == nil) }

    @Test(arguments: [
        "", "/", "/24", "192.0.2.0/", "192.0.2.0/33", "2001:db8::/129", "192.0.2.0/24/24", "192.0.2.0/2 4",
        "192.0.2/24", "example.org/24",
        "192.0.2.0/99999999999999999999",
    ])
    func whatIsNoNetworkIsRefused(_ text: String) { #expect(IPNetwork(text: text) == nil) }

    /// An address as text, of its bits.
    private static func text(_ bits: [UInt8]) -> String {
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(0) { $0 << 1 | Int($1) }
        }
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2).map { String(bytes[$0] << 8 | bytes[$0 + 1], radix: 16) }.joined(
            separator: ":")
    }
}
