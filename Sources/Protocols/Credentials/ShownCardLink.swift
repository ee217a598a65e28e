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

    /// The card in a link; a text that is no link is a card itself.
    public static func card(in text: [UInt8]) -> [UInt8] {
        guard text.starts(with: "https://".utf8), let mark = text.firstIndex(of: UInt8(ascii: "#")) else { return text }
        return Array(text[(mark + 1)...])
    }
}
