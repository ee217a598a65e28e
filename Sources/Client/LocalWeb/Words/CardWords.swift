// SPDX-License-Identifier: Apache-2.0

/// A card in words. The issuer wrote most of them.
public struct CardWords: Hashable, Sendable {
    /// Something that is to be known of a card.
    public struct Fact: Hashable, Sendable {
        /// What it is.
        public let name: String
        /// What the card has there.
        public let value: String

        /// A fact.
        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// What kind of card it is.
    public let title: String
    /// In the order in which they are shown.
    public let facts: [Fact]

    /// A card in words.
    public init(_ title: String, _ facts: [Fact]) { (self.title, self.facts) = (title, facts) }
}
