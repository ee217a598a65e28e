// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
import SecretMemory
import SignetClient

/// What a ``SealedFileKeystore`` holds, opened: private keys and secrets by name.
///
/// Wire form, then zeros to a multiple of 4096 bytes: u16 count; for each, in rising order of name: u8 length, name,
/// u8 kind (0 for a secret, else of ``DeviceIdentity/KeyKind``), u8 length, bytes.
struct SealedContents: Sendable {
    /// The maximum number of entries: two per site, and a few more.
    static let maximumCount = 10_000
    private static let paddingStep = 4096

    struct Entry: Sendable {
        /// nil for a secret.
        let kind: PrivateKeyKind?
        let bytes: SecretBytes
    }

    private(set) var entries: [PrivateKeyName: Entry] = [:]

    init() {}

    var names: [PrivateKeyName] { entries.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) } }

    mutating func add(
        _ entry: Entry, named name: PrivateKeyName
    ) throws(PrivateKeyStoreError) {
        guard entries[name] == nil else { throw .nameTaken }
        guard entries.count < Self.maximumCount else { throw .unsupported }
        entries[name] = entry
    }

    mutating func remove(_ name: PrivateKeyName) { entries[name] = nil }

    /// The wire form, padded. It holds secrets.
    var encoded: SecretBytes {
        let count = 2 + entries.reduce(0) { $0 + 3 + $1.key.bytes.count + $1.value.bytes.count }
        let padded = (count + Self.paddingStep - 1) / Self.paddingStep * Self.paddingStep
        return SecretBytes(count: padded) { buffer in
            var place = 0
            func put(_ byte: UInt8) {
                buffer[place] = byte
                place += 1
            }
            put(UInt8(entries.count >> 8))
            put(UInt8(entries.count & 255))
            for name in names {
                guard let entry = entries[name] else { continue }
                put(UInt8(name.bytes.count))
                name.bytes.forEach(put)
                put(entry.kind?.rawValue ?? 0)
                put(UInt8(entry.bytes.count))
                entry.bytes.withBytes { $0.forEach(put) }
            }
        }
    }

    /// Reads the wire form.
    init(decoding secret: SecretBytes) throws(PrivateKeyStoreError) {
        let read = secret.withBytes { bytes in Self.read(bytes) }
        guard let read else { throw .damaged }
        self = read
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) -> SealedContents? {
        var rest = bytes[...]
        func take(_ count: Int) -> Slice<UnsafeRawBufferPointer>? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        guard let head = take(2).map(Array.init) else { return nil }
        var contents = SealedContents()
        var last: PrivateKeyName?
        for _ in 0..<(Int(head[0]) << 8 | Int(head[1])) {
            guard let nameLength = take(1)?.first, let nameBytes = take(Int(nameLength)),
                let name = PrivateKeyName(stored: Array(nameBytes)), let kind = take(1)?.first,
                let length = take(1)?.first, (16...64).contains(length), let value = take(Int(length))
            else { return nil }
            let keyKind = PrivateKeyKind(rawValue: kind)
            guard kind == 0 || (keyKind != nil && length == 32), last.map({ $0 < name }) ?? true
            else { return nil }
            last = name
            contents.entries[name] = Entry(kind: keyKind, bytes: SecretBytes(copying: value))
        }
        return rest.allSatisfy { $0 == 0 } && rest.count < paddingStep ? contents : nil
    }
}

extension PrivateKeyName {
    fileprivate static func < (first: Self, second: Self) -> Bool {
        first.bytes.lexicographicallyPrecedes(second.bytes)
    }
}
