// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import SealedNotes

/// The second secret of a login, as it is printed, typed and mixed with the password.
struct LoginKeyTests {
    private static let printed = Array("000GD-40R4X-0M300-E209K-185G3-R38ED-1W00V".utf8)

    private static func mixed(_ key: LoginKey, _ password: String) -> [UInt8] {
        Array(password.utf8).withUnsafeBytes { key.mixed(with: $0).withUnsafeBytes { Array($0) } }
    }

    /// Computed with Python: `hmac.new(bytes(range(16)), b"signet-login-key/v1\nthree blind mice", hashlib.sha512)`, and the groups by
    /// their description.
    @Test func theLoginKeyHasTheDocumentedFormAndDerivation() throws {
        let key = try LoginKey(typed: Self.printed)
        key.withPrinted { #expect($0 == Self.printed) }
        LoginKey(secret: SymmetricKey(data: Array(0..<16))).withPrinted { #expect($0 == Self.printed) }
        let expected = """
            b536ba9c37977aa348848edf7aee062a93ee9dd1318b517dd6c91f29292ca0c6\
            92f22e71324e1942e0a68d40996a1c9234a523cbdda658c4c8a73c323a20ea65
            """
        #expect(
            Self.mixed(key, "three blind mice").map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                == expected)
    }

    @Test func theMixedSecretDependsOnPasswordAndLoginKey() throws {
        let (one, two) = (LoginKey.generate(), LoginKey.generate())
        #expect(Self.mixed(one, "three blind mice") != Self.mixed(two, "three blind mice"))
        #expect(Self.mixed(one, "three blind mice") != Self.mixed(one, "see how they run"))
    }

    @Test func loginKey_refusesARecoveryKey() throws {
        try RecoveryKey.generate().withPrinted { text throws in
            #expect(throws: PrintedKeyError.wrongLength(65)) { try LoginKey(typed: text) }
        }
    }

    /// Behind the 128 bits stand twelve zero bits: one spelling. The two last groups have the first and the last of them set, and checks
    /// that fit.
    @Test(arguments: ["1X00Z", "1W01B"]) func surplusBitsAreRefused(group: String) throws {
        let other = Self.printed.dropLast(5) + Array(group.utf8)
        #expect(throws: PrintedKeyError.wrongGroup(7)) { try LoginKey(typed: Array(other)) }
    }
}
