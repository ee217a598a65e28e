// SPDX-License-Identifier: Apache-2.0

package import ObjectStores

/// The rules that every `ObjectStore` keeps, as one conformance suite for all engines.
///
/// A test target runs ``check(_:at:)`` of every case on every engine, each time below a folder that holds nothing.
package enum ObjectRule: String, CaseIterable, Sendable {
    case nothingIsThereAtFirst
    case whatIsWrittenIsRead
    case anEmptyObjectIsAnObject
    case aSecondFirstWriteChangesNothing
    case aVersionIsReplacedOnce
    case aStaleTagChangesNothing
    case noVersionOfNothingIsReplaced
    case theTagOfAReadIsTheTagOfTheWrite
    case whatIsRemovedIsGone
    case removingNothingIsFine
    case afterRemovalAnObjectCanBeWrittenAnew
    case listsAreSortedByBytesAndCutByPrefix
    case oddPathsAreKeptApart
    case pathsThatNoEngineCanKeepAreRefused
    case allBytesSurvive
    case immutableObjectsAreNeverOverwritten
    case swapsFollowTheTag
    case oneOfManyFirstWritersWins
    case oneOfManySwapsAfterOneTagWins
    case aProbeLeavesNothing

    /// A rule that an engine breaks.
    package struct Broken: Error, CustomStringConvertible {
        let rule: ObjectRule
        let line: Int
        package var description: String { "\(rule.rawValue), line \(line) of the suite" }
    }

    /// How many writers there are where they race.
    package static let writerCount = 8

    /// Every visible ASCII character and the space, but `/`, with a dot that is not in front.
    package static let oddPaths = [
        "a b", "a+b", "a%20b", "a%2Bb", "a&b=c", "a?b", "a#b", "a;b,c", "a'b\"c", "a<b>c", "a\\b", "a|b^c`d", "a{b}[c]",
        "a~b_c-d.e", "a:b@c!d$e*f(g)", "A", "a", "x/y z/%", "trailing ", " leading", "a..b",
    ]

    /// Tries the rule below a folder in which nothing is.
    ///
    /// - Throws: ``Broken``, or a fault of the engine.
    package func check(_ store: some ObjectStore, at folder: String) async throws {
        let path = "\(folder)/object"
        let (one, two, three) = (Array("one".utf8), Array("two".utf8), Array("three".utf8))
        switch self {
        case .nothingIsThereAtFirst:
            try expect(await store.get(path) == nil)
            try expect(await store.list("\(folder)/") == [])
        case .whatIsWrittenIsRead:
            try await written(store, one, path, .ifAbsent)
            try expect(await store.get(path)?.bytes == one)
        case .anEmptyObjectIsAnObject:
            try await written(store, [], path, .ifAbsent)
            try expect(await store.get(path)?.bytes == [])
            try expect(await store.put(one, at: path, .ifAbsent) == .changed)
        case .aSecondFirstWriteChangesNothing:
            try await written(store, one, path, .ifAbsent)
            for bytes in [two, one] { try expect(await store.put(bytes, at: path, .ifAbsent) == .changed) }
            try expect(await store.get(path)?.bytes == one)
        case .aVersionIsReplacedOnce:
            let first = try await written(store, one, path, .ifAbsent)
            try await written(store, two, path, .ifVersion(first))
            try expect(await store.put(three, at: path, .ifVersion(first)) == .changed)
            try expect(await store.get(path)?.bytes == two)
        case .aStaleTagChangesNothing:
            let first = try await written(store, one, path, .ifAbsent)
            let second = try await written(store, two, path, .ifVersion(first))
            try await written(store, three, path, .ifVersion(second))
            for tag in [first, second] { try expect(await store.put(one, at: path, .ifVersion(tag)) == .changed) }
            try expect(await store.get(path)?.bytes == three)
        case .noVersionOfNothingIsReplaced:
            let tag = try await written(store, one, path, .ifAbsent)
            try expect(await store.put(two, at: "\(folder)/other", .ifVersion(tag)) == .changed)
            try expect(await store.get("\(folder)/other") == nil)
        case .theTagOfAReadIsTheTagOfTheWrite:
            let tag = try await written(store, one, path, .ifAbsent)
            let read = try await store.get(path)
            try expect(read == StoredObject(bytes: one, tag: tag))
            try await written(store, two, path, .ifVersion(read?.tag ?? tag))
        case .whatIsRemovedIsGone:
            let tag = try await written(store, one, path, .ifAbsent)
            try await store.remove(path)
            try expect(await store.get(path) == nil)
            try expect(await store.list("\(folder)/") == [])
            try expect(await store.put(two, at: path, .ifVersion(tag)) == .changed)
        case .removingNothingIsFine:
            try await store.remove(path)
            try await store.remove("\(path)/below")
        case .afterRemovalAnObjectCanBeWrittenAnew:
            try await written(store, one, path, .ifAbsent)
            try await store.remove(path)
            try await written(store, two, path, .ifAbsent)
            try expect(await store.get(path)?.bytes == two)
        case .listsAreSortedByBytesAndCutByPrefix:
            let names = ["b", "a/c", "a/b", "B", "ab", "a-", "a.b"]
            for name in names { try await written(store, one, "\(folder)/\(name)", .ifAbsent) }
            let all = ["B", "a-", "a.b", "a/b", "a/c", "ab", "b"].map { "\(folder)/\($0)" }
            try expect(await store.list("\(folder)/") == all)
            try expect(await store.list("\(folder)/a") == Array(all[1...5]))
            try expect(await store.list("\(folder)/a/") == Array(all[3...4]))
            try expect(await store.list("\(folder)/a/b") == [all[3]])
            try expect(await store.list("\(folder)/c") == [])
        case .oddPathsAreKeptApart:
            for name in Self.oddPaths { try await written(store, Array(name.utf8), "\(folder)/\(name)", .ifAbsent) }
            for name in Self.oddPaths { try expect(await store.get("\(folder)/\(name)")?.bytes == Array(name.utf8)) }
            let sorted = Self.oddPaths.map { "\(folder)/\($0)" }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try expect(await store.list("\(folder)/") == sorted)
        case .pathsThatNoEngineCanKeepAreRefused:
            let long = String(repeating: "a", count: 201)
            for name in ["", "a//b", "a/", "/a", "..", "a/../b", ".a", "a/.b", "é", "a\u{0}", "a\nb", "a\u{7f}", long] {
                let bad = name.hasPrefix("/") || name.isEmpty ? name : "\(folder)/\(name)"
                try await refused { _ = try await store.put(one, at: bad, .ifAbsent) }
                try await refused { _ = try await store.get(bad) }
                try await refused { try await store.remove(bad) }
            }
        case .allBytesSurvive:
            let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) } + Array(0...255)
            try await written(store, bytes, path, .ifAbsent)
            try expect(await store.get(path)?.bytes == bytes)
        case .immutableObjectsAreNeverOverwritten:
            try expect(await store.putImmutable(one, at: path) == .written)
            try expect(await store.putImmutable(one, at: path) == .same)
            do {
                try await store.putImmutable(two, at: path)
                try expect(false)
            } catch ObjectFault.contradiction(path) {}
            try expect(await store.get(path)?.bytes == one)
        case .swapsFollowTheTag:
            let first = try swapped(await store.swap(one, at: path, after: nil))
            let second = try swapped(await store.swap(two, at: path, after: first))
            let there = SwapOutcome.changed(StoredObject(bytes: two, tag: second))
            try expect(await store.swap(three, at: path, after: first) == there)
            try expect(await store.swap(three, at: path, after: nil) == there)
            try expect(await store.swap(two, at: path, after: first) == .swapped(second))
        case .oneOfManyFirstWritersWins:
            let winners = try await race { number in try await store.swap([number], at: path, after: nil) }
            try expect(winners.count == 1)
            try expect(await store.get(path)?.bytes == winners)
        case .oneOfManySwapsAfterOneTagWins:
            let tag = try await written(store, [255], path, .ifAbsent)
            let winners = try await race { number in try await store.swap([number], at: path, after: tag) }
            try expect(winners.count == 1)
            try expect(await store.get(path)?.bytes == winners)
        case .aProbeLeavesNothing:
            let name = probeName()
            try await store.probe(name)
            try expect(await store.list("probe/\(name)") == [])
        }
    }

    // MARK: Parts

    private func expect(_ holds: Bool, line: Int = #line) throws {
        guard holds else { throw Broken(rule: self, line: line) }
    }

    @discardableResult
    private func written(
        _ store: some ObjectStore, _ bytes: [UInt8], _ path: String, _ condition: PutCondition, line: Int = #line
    ) async throws -> ObjectTag {
        guard case .written(let tag) = try await store.put(bytes, at: path, condition) else {
            throw Broken(rule: self, line: line)
        }
        return tag
    }

    private func swapped(_ outcome: SwapOutcome, line: Int = #line) throws -> ObjectTag {
        guard case .swapped(let tag) = outcome else { throw Broken(rule: self, line: line) }
        return tag
    }

    private func refused(line: Int = #line, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch ObjectFault.invalidPath {
            return
        }
        throw Broken(rule: self, line: line)
    }

    /// The numbers of the writers who won. Ceph's gateway tells some of those who lose that it failed, so they have to ask again.
    private func race(
        _ write: @escaping @Sendable (UInt8) async throws -> SwapOutcome
    ) async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: UInt8?.self) { group in
            for number in 0..<UInt8(Self.writerCount) {
                group.addTask {
                    if case .swapped = try await write(number) { return number }
                    return nil
                }
            }
            return try await group.reduce(into: []) { if let number = $1 { $0.append(number) } }
        }
    }
}
