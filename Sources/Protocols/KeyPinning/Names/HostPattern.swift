// SPDX-License-Identifier: Apache-2.0

/// Which hosts a rule is for: `api.example.org`, `*.example.org` (one label more), `**.example.org` (any number more).
public enum HostPattern: Hashable, Sendable {
    /// This host and no other.
    case exactly(ServerName)
    /// Hosts with one label before this name.
    case oneLabelBelow([UInt8])
    /// Hosts with one or more labels before this name.
    case anyDepthBelow([UInt8])

    /// Reads a pattern.
    ///
    /// - Throws: ``ServerNameFault``.
    public init(_ text: some Sequence<UInt8>) throws(ServerNameFault) {
        let text = Array(text)
        if text.starts(with: Self.any) {
            self = .anyDepthBelow(try DNSName.decode(text.dropFirst(Self.any.count)))
        } else if text.starts(with: Self.one) {
            self = .oneLabelBelow(try DNSName.decode(text.dropFirst(Self.one.count)))
        } else {
            self = .exactly(try ServerName(text))
        }
    }

    /// Its text.
    public var text: [UInt8] {
        switch self {
        case .exactly(let name): name.text
        case .oneLabelBelow(let parent): Self.one + parent
        case .anyDepthBelow(let parent): Self.any + parent
        }
    }

    /// Whether a host is one of these.
    public func matches(_ host: ServerName) -> Bool {
        switch (self, host) {
        case (.exactly(let name), let host): name == host
        case (.oneLabelBelow(let parent), .dns(let name)):
            DNSName.isBelow(name, parent) && !name.dropLast(parent.count + 1).contains(DNSName.dot)
        case (.anyDepthBelow(let parent), .dns(let name)): DNSName.isBelow(name, parent)
        case (_, .address): false
        }
    }

    /// The name below which it takes every host; nil when it takes one.
    var parent: [UInt8]? {
        switch self {
        case .exactly: nil
        case .oneLabelBelow(let parent), .anyDepthBelow(let parent): parent
        }
    }

    /// Which of two rules for a host goes first: the narrower.
    var narrowness: (Int, Int) {
        switch self {
        case .exactly: (2, 0)
        case .oneLabelBelow(let parent): (1, parent.count)
        case .anyDepthBelow(let parent): (0, parent.count)
        }
    }

    private static let one = Array("*.".utf8)
    private static let any = Array("**.".utf8)
}
