// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Testing

@Suite struct TimeLengthTests {
    @Test(arguments: [("5s", 5), ("15m", 900), ("36h", 129_600), ("3d", 259_200), ("0s", 0)] as [(String, UInt64)])
    func aNumberAndAUnitAreSeconds(text: String, seconds: UInt64) {
        #expect(TimeLength.seconds(of: Array(text.utf8)) == seconds)
    }

    @Test(arguments: ["", "d", "3", "3w", "+3d", "-3d", "03d", "3 d", "3.5d", "d3", "3dd", "٣d"])
    func timeLength_refusesOtherText(text: String) { #expect(TimeLength.seconds(of: Array(text.utf8)) == nil) }

    @Test func aTooLargeTimeLengthIsTheMaximum() {
        for text in ["18446744073709551616s", "18446744073709551615m", "213503982334602d"] {
            #expect(TimeLength.seconds(of: Array(text.utf8)) == .max)
        }
    }

    @Test(arguments: [0, 1, 86_399, 86_400, 259_200, .max] as [UInt64]) func thePrintedTextOfATimeLengthIsReadAgain(
        seconds: UInt64
    ) {
        #expect(TimeLength.seconds(of: Array(TimeLength.text(ofSeconds: seconds).utf8)) == seconds)
    }
}
