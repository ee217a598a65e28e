// SPDX-License-Identifier: Apache-2.0

/// A card that is shown, as a link: the page that it leads to verifies the card, which stands behind the `#` and is not sent to the server.
public enum ShownCardLink {
    /// The link of a card.
    ///
    /// - Parameters:
    ///   - address: of a directory's server, such as `https://directory.example`.
    ///   - card: its text, as ``ShownCard`` makes it: characters that links may have.
    public static func link(at address: String, _ card: [UInt8]) -> [UInt8] {
        let base = address.utf8.last == UInt8(ascii: "/") ? Array(address.utf8.dropLast()) : Array(address.utf8)
        return base + Array("/card#".utf8) + card
    }

    /// The card in a link, as browsers read one; a text that is no link is a card itself.
    public static func card(in text: [UInt8]) -> [UInt8] {
        let link = text.drop { $0 == UInt8(ascii: " ") }
        let scheme = link.prefix(8).map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        guard scheme.elementsEqual("https://".utf8), let mark = link.firstIndex(of: UInt8(ascii: "#")) else {
            return text
        }
        // What begins so is an instruction to the browser, of which a page sees nothing.
        let fragment = link[(mark + 1)...]
        let end = fragment.firstRange(of: Array(":~:".utf8))?.lowerBound ?? fragment.endIndex
        return unescaped(fragment[..<end])
    }

    /// Without the escapes that a card can have got on its way, and without spaces at its end.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var card: [UInt8] = []
        var rest = text
        while let byte = rest.first {
            let isTilde = rest.starts(with: "%7E".utf8) || rest.starts(with: "%7e".utf8)
            let isSpace = rest.starts(with: "%20".utf8)
            card.append(isTilde ? UInt8(ascii: "~") : isSpace ? UInt8(ascii: " ") : byte)
            rest = rest.dropFirst(isTilde || isSpace ? 3 : 1)
        }
        while card.last == UInt8(ascii: " ") { card.removeLast() }
        return card
    }
}
