// SPDX-License-Identifier: Apache-2.0

/// An element of the few XML documents that stores answer: either text or further elements.
package struct AnswerElement: Hashable, Sendable {
    package let name: String
    /// The text; empty if it has elements.
    package let text: String
    package let children: [AnswerElement]

    package init(name: String, text: String, children: [AnswerElement]) {
        (self.name, self.text, self.children) = (name, text, children)
    }

    /// The text of the one element with this name; nil if there is none, several, or one with elements of its own.
    func text(of name: String) -> String? {
        let found = children.filter { $0.name == name }
        guard found.count == 1, found[0].children.isEmpty else { return nil }
        return found[0].text
    }
}

/// Why an answer was not read.
package enum S3AnswerError: Error, Hashable, Sendable {
    /// Longer than 8 MiB.
    case tooLong
    /// Not UTF-8, or with characters that XML cannot have.
    case notText
    /// Not of the part of XML that is read; the offset in bytes.
    case syntax(offset: Int)
    /// Elements inside of each other more than eight deep, or more than 65,536 of them.
    case tooManyElements
    /// Well-formed, and not the document that was expected.
    case unexpected
}
