// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Synchronization
import Testing
import TransparencyLog

@testable import KeyDirectory
@testable import LogEngine
@testable import SignetServer

/// The second memory of a log's newest checkpoint.
struct NewestMemoryTests {
    /// The first entries of a log, of which there are two kinds.
    private struct Log {
        let name: KeyName
        let signer: NoteSigner
        var tree = MerkleTree()

        init(_ kind: String, name: String = "example.org/log") throws {
            self.name = try KeyName(Array(name.utf8))
            signer = try NoteSigner(name: self.name, algorithm: .ed25519, seed: [UInt8](repeating: 7, count: 32))
            for number in 0..<20 { tree.append(TreeHash.leaf(Array("\(kind) \(number)".utf8))) }
        }

        func head(_ size: UInt64) throws -> TreeHead { TreeHead(size: size, root: try tree.root(size: size)) }

        func note(_ size: UInt64) throws -> SignedNote {
            let text = try Checkpoint(origin: name, head: try head(size)).text
            return try SignedNote(text: text, signatures: [signer.sign(text)])
        }

        func remember(_ size: UInt64, in memory: NewestMemory) throws {
            try memory.remember(note(size), head(size)) { try? tree.consistencyProof(from: $0, to: size) }
        }
    }

    private func with(_ body: (NewestMemory) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "memory-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(component: "newest").path()
        try Data().write(to: URL(filePath: path))
        try body(NewestMemory(path: path))
    }

    @Test func remember_keepsTheNewestCheckpoint() throws {
        try with { memory in
            let log = try Log("a")
            #expect(try memory.head(of: log.name) == nil)
            for size: UInt64 in [0, 3, 3, 11, 20] {
                try log.remember(size, in: memory)
                #expect(try memory.head(of: log.name) == log.head(size))
            }
        }
    }

    @Test(
        arguments: [(11, "a", 10), (11, "a", 0), (11, "b", 11), (11, "b", 12), (3, "b", 20)]
            as [(UInt64, String, UInt64)])
    func remember_refusesACheckpointThatDoesNotExtendTheNewest(old: UInt64, kind: String, new: UInt64) throws {
        try with { memory in
            let log = try Log("a")
            try log.remember(old, in: memory)
            let other = try Log(kind)
            let error = NewestMemoryError.contradicted(remembered: try log.head(old))
            #expect(throws: error) { try other.remember(new, in: memory) }
            #expect(try memory.head(of: log.name) == log.head(old))
        }
    }

    @Test func remember_refusesAMissingADamagedAndAnotherLogsFile() throws {
        try with { memory in
            let log = try Log("a")
            try Log("a", name: "example.org/other").remember(3, in: memory)
            #expect(throws: NewestMemoryError.ofOtherLog(path: memory.path)) { try log.remember(4, in: memory) }
            try Data("x".utf8).write(to: URL(filePath: memory.path))
            #expect(throws: NewestMemoryError.damaged(path: memory.path)) { try log.remember(4, in: memory) }
            try FileManager.default.removeItem(atPath: memory.path)
            #expect(throws: NewestMemoryError.file(FileFailure(memory.path, code: ENOENT))) {
                try log.remember(4, in: memory)
            }
            #expect(
                !FileManager.default.fileExists(atPath: memory.path), "a disk that is not mounted is not written to")
        }
    }

    /// It would be replaced by a file beside it, on the disk of the link.
    @Test func aMemoryThatIsALinkIsRefused_andStays() throws {
        try with { memory in
            let log = try Log("a")
            try log.remember(3, in: memory)
            let link = NewestMemory(path: memory.path + ".link")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: memory.path)
            #expect(throws: NewestMemoryError.link(path: link.path)) { try link.head(of: log.name) }
            #expect(throws: NewestMemoryError.link(path: link.path)) { try log.remember(4, in: link) }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == memory.path)
            #expect(try memory.head(of: log.name) == log.head(3))
        }
    }

    /// A checkpoint that could not be remembered is not published.
    @Test func aCheckpointThatCannotBeRememberedIsNotPublished() async throws {
        let log = try Log("a")
        let publishing = RememberedPublishing(
            memory: NewestMemory(path: "/nowhere/newest"), witnesses: nil, logger: Logger(label: "test"))
        await #expect(throws: WitnessShortfall(missing: [])) {
            try await publishing.cosignatures(on: log.note(3), head: log.head(3)) { _ in nil }
        }
    }

    /// A disk that does not answer would hold one of the few threads that run tasks, and so the server.
    @Test func noTaskWaitsOnItsThreadForTheDiskOfTheMemory() async throws {
        let path = FileManager.default.temporaryDirectory.appending(component: "memory-\(UUID().uuidString)").path()
        try Data().write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (log, memory) = (try Log("a"), NewestMemory(path: path))
        try log.remember(3, in: memory)
        let proof = try log.tree.consistencyProof(from: 3, to: 4)
        let isOutside = Mutex(false)
        let publishing = RememberedPublishing(memory: memory, witnesses: nil, logger: Logger(label: "test"))
        _ = try await publishing.cosignatures(on: log.note(4), head: log.head(4)) { _ in
            isOutside.withLock { $0 = withUnsafeCurrentTask { $0 == nil } }
            return proof
        }
        #expect(isOutside.withLock { $0 })
        #expect(try memory.head(of: log.name) == log.head(4))
    }
}
