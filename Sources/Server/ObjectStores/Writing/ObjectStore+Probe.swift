// SPDX-License-Identifier: Apache-2.0

/// Why a store is not used.
package enum ObjectProbeError: Error, Hashable, Sendable {
    /// It overwrote an object that was to be written only if nothing was there (`If-None-Match: *`).
    case ignoresAbsence
    /// It overwrote an object that was to be written only over another version (`If-Match`).
    case ignoresVersion
    /// It refuses to replace the very version that is there.
    case refusesItsOwnTag
    /// It does not give back what was written.
    case losesBytes
    /// It could not be asked.
    case fault(ObjectFault)
}

extension ObjectStore {
    /// Finds out whether a store keeps the conditions of writes, on which everything else rests. Some that speak S3 ignore them.
    ///
    /// - Parameter name: the name of an object that nobody else uses, below `probe/`; it is removed again.
    /// - Throws: ``ObjectProbeError``.
    package func probe(_ name: String = probeName()) async throws(ObjectProbeError) {
        let error: ObjectProbeError?
        do throws(ObjectFault) {
            error = try await tryConditions(at: "probe/\(name)")
            try await remove("probe/\(name)")
        } catch {
            throw .fault(error)
        }
        if let error { throw error }
    }

    private func tryConditions(at path: String) async throws(ObjectFault) -> ObjectProbeError? {
        let (first, second, third) = (Array("one".utf8), Array("two".utf8), Array("three".utf8))
        guard case .written(let tag) = try await put(first, at: path, .ifAbsent) else { return .losesBytes }
        guard try await put(second, at: path, .ifAbsent) == .changed else { return .ignoresAbsence }
        guard try await get(path) == StoredObject(bytes: first, tag: tag) else { return .losesBytes }
        guard case .written(let next) = try await put(second, at: path, .ifVersion(tag)) else {
            return .refusesItsOwnTag
        }
        for bytes in [third, first] {
            guard try await put(bytes, at: path, .ifVersion(tag)) == .changed else { return .ignoresVersion }
        }
        return try await get(path) == StoredObject(bytes: second, tag: next) ? nil : .losesBytes
    }
}

/// A name that no other probe has: 16 hexadecimal digits.
package func probeName() -> String { String(UInt64.random(in: 1 << 60 ... .max), radix: 16) }
