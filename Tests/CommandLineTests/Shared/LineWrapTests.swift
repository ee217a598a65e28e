// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SignetCommand

/// Lines that are too long for a terminal go on in the next, between words.
struct LineWrapTests {
    private func rows(_ text: String, _ width: Int) -> [String] {
        LineWrap.wrapped(text, to: width).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test func noWordIsBroken_andNoneIsLost() {
        let text = "The directory answered with something that it should never have answered with."
        for width in 12...90 {
            let rows = rows(text, width)
            #expect(rows.allSatisfy { $0.count <= width }, "\(width)")
            #expect(rows.joined(separator: " ") == text)
        }
    }

    @Test func theNextLinesAreIndentedAsTheTextOfTheFirst() {
        #expect(rows("  one two three", 11) == ["  one two", "  three"])
        #expect(rows("✓ one two three", 11) == ["✓ one two", "  three"])
        #expect(rows("  ! one two three four", 12) == ["  ! one two", "    three", "    four"])
        #expect(rows("signet: one two three four", 18) == ["signet: one two", "        three four"])
        #expect(rows("USAGE: signet lookup <handle>", 22) == ["USAGE: signet lookup", "       <handle>"])
    }

    @Test func aLineThatFitsAndEmptyLinesStayAsTheyAre() {
        let text = "  name     value\n\n✓ done  \n"
        #expect(LineWrap.wrapped(text, to: 16) == text)
    }

    @Test func aCommandInQuotesStaysWhole() {
        #expect(
            rows("Then run 'signet people trust bob' there.", 28) == [
                "Then run", "'signet people trust bob'", "there.",
            ])
        #expect(rows("This device's account is not as it was left", 24).allSatisfy { $0.count <= 24 })
    }

    @Test func coloursTakeNoRoom() {
        let line = "\u{1B}[32m✓\u{1B}[0m \u{1B}[1mone\u{1B}[0m two"
        #expect(LineWrap.wrapped(line, to: 9) == line)
        #expect(rows(line, 6) == ["\u{1B}[32m✓\u{1B}[0m \u{1B}[1mone\u{1B}[0m", "  two"])
    }

    /// In a code the dark modules are spaces: a line that was broken there could not be read by a camera.
    @Test func aPictureMadeOfBlocksStaysAsItIs() {
        let code = "\u{2588} \u{2588}\u{2580} \u{2584}"
        #expect(LineWrap.wrapped(code, to: 3) == code)
    }

    @Test func aWordLongerThanTheTerminalStaysWhole() {
        #expect(
            rows("see https://example.org/a/long/address now", 12) == [
                "see", "https://example.org/a/long/address", "now",
            ])
    }
}
