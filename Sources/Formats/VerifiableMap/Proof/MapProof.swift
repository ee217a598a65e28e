// SPDX-License-Identifier: Apache-2.0

/// What shows that a key has a value, or that it has none, in the map with a certain root.
///
/// Spec: rsc.io/tmp/mpt.
public enum MapProof: Hashable, Sendable {
    /// The key has this value: its leaf leads to the root.
    case present(value: MapValue, path: MapPath)
    /// The key has no value: a search for it ends at the leaf of another key, which leads to the root.
    case absent(beside: MapEntry, path: MapPath)
    /// The key has no value: nothing has.
    case absentFromEmptyTrie

    /// Reads a proof as it is sent. Nothing is verified yet.
    ///
    /// The bytes do not say what they claim, so the answer beside them must: a value, or none.
    ///
    /// - Parameters:
    ///   - bytes: With a value, a path. Without one, another leaf (key and value, 64 bytes) and its path, or nothing.
    ///   - value: The value that the key is said to have, nil when it is said to have none.
    /// - Throws: ``MapProofError``: these are not the bytes of a proof. A retry cannot help.
    public init(decoding bytes: [UInt8], value: MapValue?) throws(MapProofError) {
        if let value {
            self = .present(value: value, path: try MapPath(decoding: bytes.span, from: 0))
        } else if bytes.isEmpty {
            self = .absentFromEmptyTrie
        } else {
            guard bytes.count >= MapEntry.byteCount else { throw .otherLeafCutShort(byteCount: bytes.count) }
            let other = bytes.withUnsafeBytes { MapEntry(loading: $0, at: 0) }
            let path = try MapPath(decoding: bytes.span, from: MapEntry.byteCount)
            self = .absent(beside: other, path: path)
        }
    }

    /// The bytes as they are sent, without the value of a present key.
    public var encoded: [UInt8] {
        switch self {
        case .present(_, let path): return path.encoded
        case .absentFromEmptyTrie: return []
        case .absent(let other, let path):
            var bytes: [UInt8] = []
            bytes.reserveCapacity(MapEntry.byteCount + path.steps.count * MapPath.stepByteCount)
            other.append(to: &bytes)
            path.append(to: &bytes)
            return bytes
        }
    }
}
