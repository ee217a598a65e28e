// SPDX-License-Identifier: Apache-2.0

import Foundation
import ObjectTesting
import Platform
import Synchronization
import Testing

@testable import ObjectStores

/// A folder that is removed at the end.
final class Folder {
    let path = NSTemporaryDirectory() + "objects-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, at name: String) throws {
        let file = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func names(in name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(name)").sorted()
    }
}

struct FileObjectsTests {
    private let folder = Folder()

    @Test(arguments: ObjectRule.allCases)
    func aFolderKeepsTheRule(rule: ObjectRule) async throws {
        try await rule.check(FileObjects(at: folder.path), at: "below")
    }

    @Test func anObjectIsAFileAtItsPath() async throws {
        try await FileObjects(at: folder.path).putImmutable(Array("tile".utf8), at: "tile/0/000")
        #expect(try String(contentsOfFile: folder.path + "/tile/0/000", encoding: .utf8) == "tile")
    }

    @Test func anotherProcessSeesWhatIsThere() async throws {
        let first = try FileObjects(at: folder.path)
        try await first.putImmutable([1], at: "a/b")
        let second = try FileObjects(at: folder.path)
        #expect(try await second.get("a/b")?.bytes == [1])
        #expect(try await second.list("") == ["a/b"])
    }

    @Test func oneOfTwoProcessesReplacesAVersion() async throws {
        let engines = try [FileObjects(at: folder.path), FileObjects(at: folder.path)]
        for round in 0..<20 {
            let outcome = try await engines[0].swap([255], at: "p\(round)", after: nil)
            guard case .swapped(let tag) = outcome else { throw Missing() }
            let winners = try await withThrowingTaskGroup(of: PutOutcome.self) { group in
                for number in 0..<UInt8(8) {
                    let engine = engines[Int(number % 2)]
                    group.addTask { try await engine.put([number], at: "p\(round)", .ifVersion(tag)) }
                }
                return try await group.reduce(into: 0) { if $1 != .changed { $0 += 1 } }
            }
            #expect(winners == 1)
        }
    }

    private struct Missing: Error {}

    /// An object and a folder of objects cannot have one name.
    @Test func pathsThroughAnObjectAreRefused() async throws {
        let store = try FileObjects(at: folder.path)
        try await store.putImmutable([1], at: "a")
        try await store.putImmutable([1], at: "b/c")
        await #expect(throws: ObjectFault.invalidPath) { try await store.putImmutable([1], at: "a/b") }
        await #expect(throws: ObjectFault.invalidPath) { try await store.putImmutable([1], at: "b") }
        #expect(try await store.get("a/b") == nil)
        #expect(try await store.get("b") == nil)
        try await store.remove("b")
        #expect(try await store.list("") == ["a", "b/c"])
    }

    /// A link would let whoever writes to the folder show other files of the server.
    @Test func aLinkIsNotAnObject() async throws {
        let store = try FileObjects(at: folder.path)
        try folder.write("secret", at: ".elsewhere")
        #expect(symlink(folder.path + "/.elsewhere", folder.path + "/a") == 0)
        await #expect(throws: ObjectFault.unavailable(.disk(code: ELOOP))) { try await store.get("a") }
        #expect(try await store.list("") == [])
    }

    @Test func whatAWriterLeftHalfWrittenIsTakenAway() async throws {
        try folder.write("half", at: ".new/0123456789abcdef")
        let store = try FileObjects(at: folder.path)
        #expect(try folder.names(in: ".new") == [])
        #expect(try await store.list("") == [])
    }

    @Test func whatAnotherWriterIsWritingStays() throws {
        try folder.write("half", at: ".new/0123456789abcdef")
        let file = try OpenFile(folder.path + "/.new/0123456789abcdef", O_RDWR)
        #expect(file.tryLock())
        _ = try FileObjects(at: folder.path)
        #expect(try folder.names(in: ".new") == ["0123456789abcdef"])
    }

    @Test func noWriteLeavesATemporaryFile() async throws {
        let store = try FileObjects(at: folder.path)
        for bytes: [UInt8] in [[1], [2]] { _ = try await store.put(bytes, at: "a", .ifAbsent) }
        #expect(try folder.names(in: ".new") == [])
    }

    @Test func anObjectIsNoLargerThanAllowed() async throws {
        let store = try FileObjects(at: folder.path, maximumByteCount: 4)
        try await store.putImmutable([1, 2, 3, 4], at: "a")
        await #expect(throws: ObjectFault.tooLarge(limit: 4)) {
            try await store.putImmutable([1, 2, 3, 4, 5], at: "b")
        }
        try folder.write("12345", at: "c")
        await #expect(throws: ObjectFault.tooLarge(limit: 4)) { try await store.get("c") }
    }

    // MARK: Disks that do not keep what they are told

    /// Fails to make files, or folders, durable.
    private func engine(failing fails: @escaping @Sendable (FileStatus) -> Bool) throws -> FileObjects {
        try FileObjects(at: folder.path, maximumByteCount: 100) { descriptor in
            guard let status = FileStatus(of: descriptor), !fails(status) else {
                errno = EIO
                return -1
            }
            return flushed(descriptor)
        }
    }

    @Test func bytesThatAreNotDurableGetNoName() async throws {
        let store = try engine { $0.isFile }
        await #expect(throws: ObjectFault.unavailable(.disk(code: EIO))) {
            try await store.put([1], at: "a", .ifAbsent)
        }
        #expect(try await store.get("a") == nil)
    }

    /// The next attempt would find its own bytes, and take a name for durable that the disk may have dropped.
    @Test func afterANameThatIsNotDurableNoWriteIsBelieved() async throws {
        let isBroken = Mutex(true)
        let store = try engine { status in status.isFolder && isBroken.withLock { $0 } }
        let retry = ObjectRetry(attempts: 3) { _ in isBroken.withLock { $0 = false } }
        let unknown = ObjectFault.outcomeUnknown(.disk(code: EIO))
        await #expect(throws: unknown) { try await store.putImmutable([1], at: "a", retry: retry) }
        await #expect(throws: ObjectFault.unavailable(.disk(code: EIO))) {
            try await store.put([1], at: "b", .ifAbsent)
        }
    }

    /// Of the file before its name, and of each folder down to it; of the folder even if somebody else's object is there.
    @Test func everythingThatAWriteNeedsIsMadeDurable() async throws {
        let flushes = Mutex<[Bool]>([])
        let store = try engine { status in
            flushes.withLock { $0.append(status.isFile) }
            return false
        }
        func flushesOf(_ body: () async throws -> Void) async rethrows -> [Bool] {
            flushes.withLock { $0 = [] }
            try await body()
            return flushes.withLock { $0 }
        }
        #expect(try await flushesOf { try await store.putImmutable([1], at: "a/b/c") } == [false, false, true, false])
        #expect(try await flushesOf { try await store.putImmutable([1], at: "a/b/d") } == [true, false])
        #expect(try await flushesOf { try await store.putImmutable([1], at: "a/b/c") } == [true, false])
        #expect(try await flushesOf { try await store.remove("a/b/c") } == [false])
    }
}
