// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import Testing

/// Addresses of keys in tokens, RFC 7512.
@Suite struct TokenAddressTests {
    private static let good = "pkcs11:token=log%20token;object=k-1?module-path=/usr/lib/m.so&pin-source=file:/etc/pin"

    private func address(_ text: String) throws -> TokenAddress { try TokenAddress(decoding: Array(text.utf8)) }

    @Test func anAddressIsReadAndKept() throws {
        let read = try address(Self.good)
        #expect(read.token == Array("log token".utf8) && read.object == Array("k-1".utf8))
        #expect(read.module == "/usr/lib/m.so" && read.pinFile == "/etc/pin")
        #expect(read.encoded == Array(Self.good.utf8))
        let turned = try address("pkcs11:object=%C3%A4;token=t?pin-source=file:%2Fp&module-path=/m")
        #expect(turned.object == [0xC3, 0xA4] && turned.pinFile == "/p")
    }

    @Test(arguments: [
        ("", TokenAddressError.notAnAddress), ("PKCS11:token=t", .notAnAddress), ("pkcs11:", .missing),
        ("pkcs11:token=t?module-path=/m&pin-source=file:/p", .missing),
        ("pkcs11:token=t;object=o?module-path=/m", .missing),
        ("pkcs11:token=t;object=o;serial=1?module-path=/m&pin-source=file:/p", .unknownAttribute),
        ("pkcs11:token=t;object=o;module-path=/m?pin-source=file:/p", .unknownAttribute),
        ("pkcs11:token=t;token=t;object=o?module-path=/m&pin-source=file:/p", .malformed),
        ("pkcs11:token=t;object=o;?module-path=/m&pin-source=file:/p", .malformed),
        ("pkcs11:token=;object=o?module-path=/m&pin-source=file:/p", .malformed),
        ("pkcs11:token=t;object=?module-path=/m&pin-source=file:/p", .malformed),
        ("pkcs11:token=t t;object=o?module-path=/m&pin-source=file:/p", .malformed),
        ("pkcs11:token=t%2;object=o?module-path=/m&pin-source=file:/p", .malformed),
        ("pkcs11:token=t%+2;object=o?module-path=/m&pin-source=file:/p", .malformed),
        ("pkcs11:token=t\n;object=o?module-path=/m&pin-source=file:/p", .malformed),
        ("pkcs11:token=123456789012345678901234567890123;object=o?module-path=/m&pin-source=file:/p", .malformed),
        ("pkcs11:token=t;object=o?module-path=m.so&pin-source=file:/p", .relativePath),
        ("pkcs11:token=t;object=o?module-path=/m%00&pin-source=file:/p", .relativePath),
        ("pkcs11:token=t;object=o?module-path=/m&pin-source=file:p", .relativePath),
        ("pkcs11:token=t;object=o?module-path=/m&pin-source=env:PIN", .pinNotInAFile),
        ("pkcs11:token=t;object=o?module-path=/m&pin-value=1234", .pinNotInAFile),
    ])
    func anythingElseIsRefused(_ text: String, _ error: TokenAddressError) {
        #expect(throws: error) { try address(text) }
    }

    @Test func anAddressWithOneOtherByteIsReadAsItStands_orRefused() throws {
        let good = Array(Self.good.utf8)
        for place in good.indices {
            for byte: UInt8 in [0, 10, 37, 38, 43, 47, 59, 61, 63, 65, 127, 255] {
                var text = good
                text[place] = byte
                do throws(TokenAddressError) { #expect(try TokenAddress(decoding: text).encoded == text) } catch {}
                do throws(TokenAddressError) { _ = try TokenAddress(decoding: Array(text[...place])) } catch {}
            }
        }
    }

    @Test func anAddressThatIsTooLongIsRefused() {
        let long = Self.good.replacing("k-1", with: String(repeating: "k", count: TokenAddress.maximumByteCount))
        #expect(throws: TokenAddressError.notAnAddress) { try address(long) }
    }
}
