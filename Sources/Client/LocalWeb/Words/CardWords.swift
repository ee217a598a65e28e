// SPDX-License-Identifier: Apache-2.0

/// A card in words. The issuer wrote most of them.
public struct CardWords: Hashable, Sendable {
    public struct Fact: Hashable, Sendable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    public let title: String
    public let facts: [Fact]

    public init(_ title: String, _ facts: [Fact]) { (self.title, self.facts) = (title, facts) }
}
