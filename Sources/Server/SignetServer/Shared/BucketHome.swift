// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import ObjectStores

/// The mark of the bucket to which a directory was moved: the object `home`, 32 hexadecimal digits, which the file `engines` of every machine
/// repeats. Without it a process with another bucket, or another prefix, would look as right as the others until it leads.
struct BucketHome {
    private static let path = "home"
    private let objects: any ObjectStore

    init(_ objects: any ObjectStore) { self.objects = objects }

    /// The mark that is there, or a new one.
    ///
    /// - Throws: `ObjectFault`.
    func make() async throws(ObjectFault) -> String {
        if let there = try await text() { return there }
        let new = Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255) })
        try await objects.putImmutable(new, at: Self.path)
        return String(decoding: new, as: UTF8.self)
    }

    /// Whether the bucket has this mark. One that does not answer is not said to be another.
    func isMissing(_ mark: String) async -> Bool {
        do throws(ObjectFault) { return try await text() != mark } catch { return false }
    }

    /// Puts the mark back where there is none.
    ///
    /// - Returns: false: the bucket has another one.
    /// - Throws: `ObjectFault`.
    func putBack(_ mark: String) async throws(ObjectFault) -> Bool {
        if let there = try await text() { return there == mark }
        try await objects.putImmutable(Array(mark.utf8), at: Self.path)
        return true
    }

    private func text() async throws(ObjectFault) -> String? {
        try await objects.get(Self.path).map { String(decoding: $0.bytes, as: UTF8.self) }
    }
}
