// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import SeededRandomness
import Testing

/// The header of the PROXY protocol, and the header field of a request, as bytes from a proxy that may be broken.
@Suite struct ProxyHeaderTests {
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    /// A header of version 2 as section 2.2 of the specification lays it out.
    static func binary(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
        signature + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 0xFF)] + rest
    }

    private static let four: [UInt8] = [198, 51, 100, 7, 192, 0, 2, 1, 0xC0, 0x00, 0x20, 0xFB]
    private static let six: [UInt8] =
        [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 1, count: 16) + [
            1, 2, 3, 4,
        ]

    private static func client(_ text: String) throws -> ProxyHeader { .client(try #require(IPAddress(text: text))) }

    @Test func bothVersionsNameTheClient_andWhatFollowsIsNotOfTheHeader() throws {
        let headers: [([UInt8], String)] = [
            (Array("PROXY TCP4 198.51.100.7 192.0.2.1 49152 8443\r\n".utf8), "198.51.100.7"),
            (Array("PROXY TCP6 2001:db8::7 2001:db8::1 0 65535\r\n".utf8), "2001:db8::7"),
            (Array("PROXY TCP6 ::ffff:198.51.100.7 ::1 1 1\r\n".utf8), "198.51.100.7"),
            (Self.binary(0x21, 0x11, Self.four), "198.51.100.7"),
            (Self.binary(0x21, 0x11, Self.four + [0x20, 0x00, 0x01, 0x00]), "198.51.100.7"),
            (Self.binary(0x21, 0x21, Self.six), "2001:db8::7"),
        ]
        for (bytes, address) in headers {
            let read = try #require(try ProxyHeader.read(bytes + Array("hello".utf8)))
            #expect(read.header == (try Self.client(address)))
            #expect(read.byteCount == bytes.count)
        }
    }

    @Test func aConnectionOfTheProxysOwnNamesNoClient() throws {
        let headers = [
            Array("PROXY UNKNOWN\r\n".utf8), Array("PROXY UNKNOWN 1.2.3.4 anything\r\n".utf8),
            Self.binary(0x20, 0x00, []), Self.binary(0x20, 0x11, Self.four), Self.binary(0x21, 0x00, []),
        ]
        for bytes in headers {
            let read = try #require(try ProxyHeader.read(bytes))
            #expect(read.header == .proxy)
            #expect(read.byteCount == bytes.count)
        }
    }

    /// Each is refused as soon as its bytes are there, so that a connection does not wait for more of it.
    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "proxy TCP4 1.2.3.4 1.2.3.4 1 1\r\n", "PROXY  TCP4 1.2.3.4 1.2.3.4 1 1\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 1\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 1 \r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 +1 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
        "PROXY TCP4 1.2.3 1.2.3.4 1 1\r\n",
        "PROXY TCP4 1.2.3.04 1.2.3.4 1 1\r\n", "PROXY TCP4 1.2.3.256 1.2.3.4 1 1\r\n", "PROXY TCP4 ::1 1.2.3.4 1 1\r\n",
        "PROXY TCP6 1.2.3.4 ::1 1 1\r\n", "PROXY TCP6 ::1%lo ::1 1 1\r\n", "PROXY TCP6 [::1] ::1 1 1\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", "PROXY UDP4 1.2.3.4 1.2.3.4 1 1\r\n",
        "PROXY TCP4 1.2.3.4\0 1.2.3.4 1 1\r\n",
        "PROXY \r\n", "PROXY TCP4 localhost 1.2.3.4 1 1\r\n",
    ])
    func aLineThatIsNotExactlyOneIsRefused(_ line: String) {
        #expect(throws: ProxyHeaderFault.self) { try ProxyHeader.read(Array(line.utf8)) }
    }

    @Test func aBinaryHeaderThatIsNotExactlyOneIsRefused() {
        let headers = [
            Self.binary(0x11, 0x11, Self.four), Self.binary(0x22, 0x11, Self.four), Self.binary(0x21, 0x12, Self.four),
            Self.binary(0x21, 0x31, Self.six), Self.binary(0x21, 0x11, Array(Self.four.dropLast())),
            Self.binary(0x21, 0x21, Self.four), Self.signature.dropLast() + [0x0B],
            Self.binary(0x21, 0x11, [UInt8](repeating: 0, count: 2033)),
        ]
        for bytes in headers {
            #expect(throws: ProxyHeaderFault.self, "\(bytes)") { try ProxyHeader.read(Array(bytes)) }
        }
    }

    /// A proxy that never ends its header is not waited for.
    @Test func aHeaderIsBounded() throws {
        #expect(throws: ProxyHeaderFault.self) {
            try ProxyHeader.read(Array("PROXY UNKNOWN ".utf8) + [UInt8](repeating: 0x61, count: 93))
        }
        #expect(try ProxyHeader.read(Array("PROXY UNKNOWN ".utf8) + [UInt8](repeating: 0x61, count: 92)) == nil)
        let longest = Self.binary(0x21, 0x11, Self.four + [UInt8](repeating: 0, count: 2020))
        #expect(try #require(try ProxyHeader.read(longest)).byteCount == ProxyHeader.maximumByteCount)
    }

    @Test func everyBeginningOfAHeaderIsIncomplete() throws {
        let headers = [
            Array("PROXY TCP4 198.51.100.7 192.0.2.1 49152 8443\r\n".utf8), Self.binary(0x21, 0x11, Self.four),
            Self.binary(0x21, 0x21, Self.six), Self.binary(0x20, 0x00, []),
        ]
        for bytes in headers {
            for count in bytes.indices { #expect(try ProxyHeader.read(bytes.prefix(count)) == nil) }
        }
    }

    /// Whatever comes: it is refused, incomplete within the bounds, or a header within them.
    @Test func mutatedHeadersStayWithinTheBounds() {
        var random = SeededGenerator(seed: 19)
        let seeds = [
            Array("PROXY TCP4 198.51.100.7 192.0.2.1 49152 8443\r\n".utf8), Self.binary(0x21, 0x11, Self.four),
            Self.binary(0x21, 0x21, Self.six), Array("PROXY UNKNOWN\r\n".utf8),
        ]
        var counts = (headers: 0, incomplete: 0, refused: 0)
        for round in 0..<20_000 {
            let bytes = random.mutant(of: seeds[round % seeds.count])
            do {
                guard let read = try ProxyHeader.read(bytes) else {
                    counts.incomplete += 1
                    #expect(bytes.count < ProxyHeader.maximumByteCount)
                    continue
                }
                counts.headers += 1
                #expect(read.byteCount <= min(bytes.count, ProxyHeader.maximumByteCount))
            } catch { counts.refused += 1 }
        }
        #expect(counts.headers > 100 && counts.incomplete > 100 && counts.refused > 100, "\(counts)")
    }

    // MARK: X-Forwarded-For

    private static func proxies(_ texts: String...) throws -> TrustedProxies {
        TrustedProxies(try texts.map { try #require(IPNetwork(text: $0)) })
    }

    @Test(arguments: [
        (["198.51.100.7"], "198.51.100.7"),
        (["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
        (["nonsense", "198.51.100.7"], "198.51.100.7"),
        (["203.0.113.9, 198.51.100.7,192.0.2.1"], "198.51.100.7"),
        (["198.51.100.7 ", "192.0.2.1", "2001:db8::1"], "198.51.100.7"),
        (["192.0.2.1"], "192.0.2.1"),
        (["2001:db8::7"], "2001:db8::7"),
        ([], nil), ([""], nil), (["198.51.100.7,"], nil), (["198.51.100.7", "unknown"], nil),
        (["198.51.100.7, 192.0.2.1 x"], nil), (["198.51.100.7:80"], nil), (["_hidden, 192.0.2.1"], nil),
    ])
    func theLastAddressThatIsNoProxysIsTheClients(_ values: [String], _ address: String?) throws {
        let proxies = try Self.proxies("192.0.2.1", "2001:db8::1")
        #expect(proxies.client(forwardedFor: values) == address.flatMap { IPAddress(text: $0) })
    }
}
