// SPDX-License-Identifier: Apache-2.0

import LogWitness
import Testing

struct WitnessAddressTests {
    @Test(
        arguments: [
            ("https://witness.example", "witness.example", 443, true), ("http://127.0.0.1", "127.0.0.1", 80, false),
            ("https://w.example:8444/", "w.example", 8444, true), ("https://w.example/a/b", "w.example", 443, true),
            ("http://[::1]:7380", "::1", 7380, false), ("https://[fe80::2]/x", "fe80::2", 443, true),
        ])
    func address_readsHostPortAndScheme(url: String, host: String, port: Int, isSecure: Bool) throws {
        let address = try #require(WitnessAddress(Array(url.utf8)))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.isSecure == isSecure)
    }

    @Test(arguments: [
        "", "witness.example", "ftp://w.example", "https://", "https:///x", "https://w.example:0", "https://w:65536",
        "https://w.example:", "https://w.example:08", "https://user@w.example", "https://w.example/?a", "https://a b",
        "https://w.example/#a", "https://::1", "https://[w.example]", "https://[::1]x", "https://w\u{E9}.example",
        "https://w.example:-1", "HTTPS://w.example",
    ])
    func address_refusesOtherText(url: String) {
        #expect(WitnessAddress(Array(url.utf8)) == nil)
    }
}
