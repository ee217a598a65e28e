// SPDX-License-Identifier: Apache-2.0

/// Where the server keeps whole objects by path: a folder of this machine, or a store that several machines share.
///
/// Paths are those of ``ObjectPath``. What an acknowledged write left there is durable, and whoever reads later sees it, or what came
/// after it. Each operation is one attempt with a deadline; ``putImmutable(_:at:retry:)`` and ``swap(_:at:after:retry:)`` are the
/// writes that a caller wants, and try again where that is safe.
///
/// The rules of every engine are one suite of tests, `ObjectRule`.
package protocol ObjectStore: Sendable {
    /// What is at a path; nil if nothing is.
    ///
    /// - Throws: ``ObjectFault``, never ``ObjectFault/outcomeUnknown(_:)``.
    func get(_ path: String) async throws(ObjectFault) -> StoredObject?

    /// Writes a whole object, if the condition holds at that moment. Readers see the old bytes or the new ones, never a part.
    ///
    /// - Throws: ``ObjectFault``. After ``ObjectFault/outcomeUnknown(_:)`` the bytes may be there, or may still arrive: if they do,
    ///   the condition is checked then.
    func put(_ bytes: [UInt8], at path: String, _ condition: PutCondition) async throws(ObjectFault) -> PutOutcome

    /// Removes what is at a path; nothing happens if nothing is. A removal of which the outcome is unknown is tried again by who asked.
    ///
    /// - Throws: ``ObjectFault``.
    func remove(_ path: String) async throws(ObjectFault)

    /// The paths that begin with these characters, in the order of their bytes. Empty for all.
    ///
    /// - Throws: ``ObjectFault``, never ``ObjectFault/outcomeUnknown(_:)``.
    func list(_ prefix: String) async throws(ObjectFault) -> [String]

    /// Ends all that is asked of the store by this process: what was under way is of unknown outcome, and what comes later is refused. Only
    /// a store to which there are connections does anything.
    func close() async
}

extension ObjectStore {
    package func close() async {}
}

/// The bytes of an object, and the tag of this version of it.
package struct StoredObject: Hashable, Sendable {
    package let bytes: [UInt8]
    package let tag: ObjectTag

    package init(bytes: [UInt8], tag: ObjectTag) { (self.bytes, self.tag) = (bytes, tag) }
}

/// A store's own name for one version of an object. Nobody but the store reads it.
///
/// Equal bytes at one path may have equal tags: a path that goes back to earlier bytes may go back to their tag, and then a late write
/// with the condition of that tag succeeds. Whoever swaps writes bytes that were never there before.
package struct ObjectTag: Hashable, Sendable {
    /// As the store gave it.
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// What must hold at the moment of a write.
package enum PutCondition: Hashable, Sendable {
    /// Nothing is at the path.
    case ifAbsent
    /// This version is at the path.
    case ifVersion(ObjectTag)
}

/// What became of a write that the store answered.
package enum PutOutcome: Hashable, Sendable {
    /// It is there, durably, under this tag.
    case written(ObjectTag)
    /// The condition did not hold, and this attempt changed nothing. An earlier attempt of the same writer may be the reason.
    case changed
}
