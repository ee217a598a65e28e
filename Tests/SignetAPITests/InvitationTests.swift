// SPDX-License-Identifier: Apache-2.0

import SignetAPI
import Testing

@Suite struct InvitationTests {
    static let code: [UInt8] = [0, 1, 0xab, 0xcd, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff]

    @Test func aCodeHasFourGroupsOfEightDigits() throws {
        let invitation = try #require(Invitation(code: Self.code))
        #expect(invitation.text == "0001abcd-04050607-08090a0b-0c0d0eff")
        #expect(invitation.headerValue == "0001abcd0405060708090a0b0c0d0eff")
        #expect(Invitation(headerValue: Array(invitation.headerValue.utf8)) == invitation)
    }

    @Test(arguments: [
        "0001abcd-04050607-08090a0b-0c0d0eff", "0001ABCD 04050607 08090a0b 0c0d0eff",
        "0001abcd0405060708090a0b0c0d0eff",
        " 00-01abcd0405060708090A0B0c0d0eff-",
    ]) func aTypedCodeIsReadWithDashesSpacesAndCapitals(text: String) {
        #expect(Invitation(typed: text)?.code == Self.code)
    }

    @Test(arguments: [
        "", "0001abcd", "0001abcd0405060708090a0b0c0d0eff00", "0001abcd0405060708090a0b0c0d0efg",
        "0001abcd_0405060708090a0b0c0d0eff",
    ])
    func whatIsNoCodeIsRefused(text: String) {
        #expect(Invitation(typed: text) == nil)
        #expect(Invitation(headerValue: Array(text.utf8)) == nil)
    }

    @Test func theHeaderHasOneSpelling() {
        #expect(Invitation(headerValue: Array("0001ABCD0405060708090a0b0c0d0eff".utf8)) == nil)
        #expect(Invitation(headerValue: Array("0001abcd-04050607-08090a0b-0c0d0eff".utf8)) == nil)
    }

    @Test func aCodeOfAnotherLengthIsNone() {
        #expect(Invitation(code: [UInt8](repeating: 1, count: 15)) == nil)
        #expect(Invitation(code: [UInt8](repeating: 1, count: 17)) == nil)
    }
}
