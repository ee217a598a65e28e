// SPDX-License-Identifier: Apache-2.0

package import CanonicalCoding
public import KeyTransparency

/// Who signed a record: a person, with one of their devices.
///
/// Wire form: u8 handle length, handle, 32-byte Ed25519 signing key of the device.
public struct Author: Hashable, Sendable {
    /// Whose record it is.
    public let handle: Handle
    /// The device's signing key, 32 bytes.
    public let device: [UInt8]

    /// An author; whether the device is theirs is checked with ``AuthorKeys``.
    public init(handle: Handle, device: [UInt8]) {
        self.handle = handle
        self.device = device
    }

    package init(from reader: inout ByteReader) throws {
        handle = try Handle(from: &reader)
        device = Array(try reader.bytes(32))
    }
}

extension Handle {
    init(from reader: inout ByteReader) throws {
        let count = Int(try reader.uint8())
        try self.init(canonical: Array(reader.bytes(count)))
    }
}

extension ByteWriter {
    mutating func write(_ handle: Handle) {
        write(UInt8(truncatingIfNeeded: handle.bytes.count))
        write(handle.bytes)
    }

    package mutating func write(_ author: Author) {
        write(author.handle)
        write(author.device)
    }
}

/// The signing keys that a person's devices have now.
public struct AuthorKeys: Hashable, Sendable {
    /// Whose.
    public let handle: Handle
    /// Ed25519, 32 bytes each.
    public let devices: Set<[UInt8]>

    /// The keys that a verified answer of the directory lists.
    public init(_ lookup: VerifiedLookup) { self.init(uncheckedState: lookup.state) }

    /// The keys of a state that was not looked up: for the server, which holds the states itself.
    ///
    /// Security: a client that uses this lets its server choose every person's keys.
    package init(uncheckedState state: AccountState) {
        handle = state.handle
        devices = Set(state.devices.map(\.keys.signing))
    }

    /// The keys that a client has pinned itself, out of a verified lookup: for reading without a network.
    ///
    /// Security: as good as the store they come from.
    package init(pinned devices: some Sequence<[UInt8]>, of handle: Handle) {
        self.handle = handle
        self.devices = Set(devices)
    }

    /// Of the keys that a verified answer lists those that the user has accepted: for a person whose devices have
    /// changed without the user's acceptance.
    package init(_ lookup: VerifiedLookup, acceptedIn pinned: PinnedPeer?) {
        let accepted = Set(pinned?.devices.map(\.signingKey) ?? [])
        self.init(pinned: lookup.state.devices.map(\.keys.signing).filter(accepted.contains), of: lookup.state.handle)
    }

    /// The one device whose request the server has just authenticated.
    ///
    /// Security: says nothing about any other person, and nothing to a client.
    package init(authenticated author: Author) {
        handle = author.handle
        devices = [author.device]
    }
}

/// The keys of all authors whose records are checked.
public struct KnownAuthors: Sendable {
    private let keys: [Handle: AuthorKeys]

    /// One entry per person; of two entries for one person, the later counts.
    public init(_ keys: some Sequence<AuthorKeys>) {
        self.keys = Dictionary(keys.map { ($0.handle, $0) }) { $1 }
    }

    /// Whether the device is one of the person's now.
    public func isCurrent(_ author: Author) -> Bool { keys[author.handle]?.devices.contains(author.device) ?? false }
}
