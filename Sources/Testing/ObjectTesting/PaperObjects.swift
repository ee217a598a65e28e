// SPDX-License-Identifier: Apache-2.0

package import ObjectStores

/// A store of objects on paper: what an honest engine does, as a value, so that every order of events can be tried.
package struct PaperObjects: Hashable, Sendable {
    private var objects: [String: StoredObject] = [:]
    private var lastTag = 0

    package init() {}

    /// What is at a path.
    package func get(_ path: String) -> StoredObject? { objects[path] }

    /// Writes an object, if the condition holds now. Each write has a tag of its own.
    package mutating func put(_ bytes: [UInt8], at path: String, _ condition: PutCondition) -> PutOutcome {
        switch condition {
        case .ifAbsent: guard objects[path] == nil else { return .changed }
        case .ifVersion(let tag): guard objects[path]?.tag == tag else { return .changed }
        }
        lastTag += 1
        let tag = ObjectTag("\"\(lastTag)\"")
        objects[path] = StoredObject(bytes: bytes, tag: tag)
        return .written(tag)
    }

    /// Removes an object, if there is one.
    package mutating func remove(_ path: String) { objects[path] = nil }

    /// The paths that begin with these characters, sorted.
    package func list(_ prefix: String) -> [String] {
        objects.keys.filter { $0.hasPrefix(prefix) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Whether a path is a folder of an object's, or leads through an object: neither can be written.
    package func isCrossed(_ path: String) -> Bool {
        objects.keys.contains { $0.hasPrefix(path + "/") || path.hasPrefix($0 + "/") }
    }
}
