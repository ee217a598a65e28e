// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogEngine
import ObjectStores
import SQLStores
import SharedLog
import Synchronization
import Testing
import TransparencyLog

/// Whatever is in the folder, a start shows the log that was signed.
@Suite("Frames that a follower keeps")
struct KeptFramesTests {
    /// A folder of one process, and what was remarked of it.
    private final class Folder: Sendable {
        let path = NSTemporaryDirectory() + "kept-frames-\(UUID().uuidString)"
        private let said = Mutex<[String]>([])
        var remarks: [String] { said.withLock { $0 } }

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func open(hasRoom: Bool = true) -> KeptFrames? {
            KeptFrames.open(in: POSIXFileSystem(root: path), hasRoom: { hasRoom }) { [self] words in
                said.withLock { $0.append(words) }
            }
        }

        var segment: String { path + "/wal/00000000000000000000" }

        var bytes: [UInt8] {
            get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: segment))) }
        }

        func write(_ bytes: [UInt8]) throws {
            try Data(bytes).write(to: URL(fileURLWithPath: segment))
        }

        /// The checkpoint that was shown last.
        var shown: String { path + "/checkpoint.published" }

        func forgetShown() throws { try FileManager.default.removeItem(atPath: shown) }
    }

    private let fixture: SharedLogFixture
    private let folder: Folder

    init() async throws {
        fixture = try await SharedLogFixture.led(300)
        folder = try Folder()
    }

    /// Starts, looks once, and ends.
    ///
    /// - Returns: how many entries were read from the folder.
    @discardableResult
    private func start(_ fixture: SharedLogFixture? = nil, in folder: Folder? = nil) async throws -> UInt64 {
        let (fixture, folder) = (fixture ?? self.fixture, folder ?? self.folder)
        let kept = try #require(folder.open())
        let follower = try await fixture.follow(kept: kept)
        try await follower.step()
        let signed = try #require(fixture.published.last)
        #expect(follower.log.published.head == signed.head)
        #expect(try follower.log.root(size: signed.head.size) == signed.head.root)
        await follower.log.close()
        return kept.usedSize
    }

    @Test func aStartReadsWhatTheLastOneKept() async throws {
        #expect(try await start() == 0)
        try fixture.execute("DELETE FROM frames")
        #expect(try await start() == 300)
        #expect(folder.remarks == [])
    }

    @Test func whatIsNewIsReadFromTheDatabase_andKept() async throws {
        try await start()
        try await fixture.extend(300..<500)
        try fixture.execute("DELETE FROM frames WHERE first < 300")
        #expect(try await start() == 300)
        try fixture.execute("DELETE FROM frames")
        #expect(try await start() == 500)
    }

    @Test func whatIsFollowedIsKept() async throws {
        try await followUpTo500()
        #expect(try await start() == 500)
    }

    private func followUpTo500() async throws {
        let follower = try await fixture.follow(kept: try #require(folder.open()))
        try await fixture.extend(300..<400)
        try await follower.step()
        try await fixture.extend(400..<500)
        try await follower.step()
        await follower.log.close()
    }

    /// It may end before it has published that.
    @Test func aCandidateKeepsNothingThatIsNotPublished() async throws {
        let kept = try #require(folder.open())
        let follower = try await fixture.follow(kept: kept)
        try await fixture.extend(300..<400)
        let leader = try await fixture.lead("later", from: follower)
        await leader.close()
        #expect(try await fixture.follow(kept: kept).keptSize == 300)
    }

    // MARK: Damage and forgery

    @Test func aFlippedBitCostsNothingButTime() async throws {
        try await start()
        let sound = try folder.bytes
        let end = try #require(sound.lastIndex { $0 != 0 })
        for place in stride(from: 0, through: end, by: 37) {
            var bytes = sound
            bytes[place] ^= 0x10
            try folder.write(bytes)
            try await start()
            #expect(try await start() == 300, "byte \(place): it was mended")
        }
        #expect(!folder.remarks.isEmpty)
    }

    @Test func aFileThatEndsEarlyCostsNothingButTime() async throws {
        try await start()
        let sound = try folder.bytes
        let end = try #require(sound.lastIndex { $0 != 0 })
        for length in stride(from: 0, through: end + 1, by: 101) {
            try folder.write(Array(sound[..<length]))
            try await start()
            #expect(try await start() == 300, "\(length) bytes: it was mended")
        }
    }

    /// Every frame of it is sound, and has its checksum: who can write the folder can make that.
    @Test(arguments: [100, 200, 300]) func framesOfAnotherLogAreRefused(size: Int) async throws {
        let other = try SharedLogFixture()
        try await other.engines.create(try other.configuration())
        try await other.extend(0..<size, words: "forged")
        try await start(other)
        try folder.forgetShown()
        #expect(try await start() == 0)
        #expect(folder.remarks.count == 1)
        #expect(try await start() == 300)
    }

    @Test func oneForgedEntryAmongTrueOnesIsRefused() async throws {
        let other = try await SharedLogFixture.led(200)
        try await other.extend(200..<299)
        try await other.extend(299..<300, words: "forged")
        try await start(other)
        try folder.forgetShown()
        #expect(try await start() == 0)
        #expect(folder.remarks.count == 1)
    }

    /// A front end that is started with an older copy of the database, or in the folder of another directory.
    @Test func moreThanWhatIsShownIsRefused() async throws {
        let longer = try await SharedLogFixture.led(400)
        try await start(longer)
        try folder.forgetShown()
        #expect(try await start() == 0)
        #expect(folder.remarks.count == 1)
        #expect(folder.remarks.first?.contains("shrinks") == true)
    }

    /// The folder can make nobody believe a database that is wrong.
    @Test func framesThatFitTogetherMakeNoCheckpoint() async throws {
        let other = try await SharedLogFixture.led(200)
        try await other.extend(200..<300, words: "forged")
        try await start(other)
        try folder.forgetShown()
        try fixture.execute("DELETE FROM frames WHERE first = 200")
        let kept = try #require(folder.open())
        await #expect(throws: SharedLogOpenError.fault(.frameMissing(firstIndex: 200))) {
            try await fixture.follow(kept: kept)
        }
    }

    // MARK: What was shown here

    /// What a start says.
    private func refusal(_ fixture: SharedLogFixture? = nil) async throws -> SharedLogOpenError? {
        let kept = try #require(folder.open())
        do {
            try await (fixture ?? self.fixture).follow(kept: kept).log.close()
            return nil
        } catch let error as SharedLogOpenError { return error }
    }

    /// Database and bucket were both put back to an older state, so that nothing else remembers the newer one.
    @Test func aDatabaseWithLessThanWasShownHereIsRefused_andWhatWasKeptStays() async throws {
        try await start()
        let older = try SharedLogFixture(copyOf: fixture)
        try await fixture.extend(300..<400)
        try await start()
        #expect(try await refusal(older) == .fault(.shrinks(from: 400, to: 300)))
        #expect(folder.remarks == [], "the frames are not forgotten")
        #expect(try await refusal() == nil, "the newer one is found again")
    }

    /// The older state has grown on, beyond what was shown here.
    @Test func anotherLogThanWasShownHereIsRefused() async throws {
        let older = try SharedLogFixture(copyOf: fixture)
        try await fixture.extend(300..<400)
        try await start()
        try await older.extend(300..<500, words: "again")
        #expect(try await refusal(older) == .fault(.rootDiffers(size: 400)))
        #expect(try await refusal(older) == .fault(.rootDiffers(size: 400)), "and at the next start")
    }

    /// A repair has put the entries back, and nobody has led since.
    @Test func entriesThatAreCommittedAndNotPublishedAreNoLoss_andWhatWasShownIsKept() async throws {
        let older = try SharedLogFixture(copyOf: fixture)
        let row = "SELECT published_size, published_root, note FROM log WHERE id = 1"
        let before = try #require(
            try await fixture.engines.database.read { transaction in
                try transaction.row(row).map { (try $0.integer(0), try $0.bytes(1), try $0.bytes(2)) }
            })
        try await fixture.extend(300..<400)
        try await start()
        try await fixture.engines.database.write { transaction in
            try transaction.run(
                "UPDATE log SET published_size = ?, published_root = ?, note = ? WHERE id = 1",
                [before.0, before.1, before.2])
        }
        #expect(try await refusal() == nil)
        #expect(try await refusal(older) == .fault(.shrinks(from: 400, to: 300)), "it was shown here all the same")
    }

    @Test func whatTheLogHasNotSignedIsNotBelieved() async throws {
        try await start()
        let sound = try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.shown)))
        let text = String(decoding: sound, as: UTF8.self)
        for changed in [text.replacing("\n300\n", with: "\n999\n"), "", "x", String(text.dropLast(9))] {
            try Data(changed.utf8).write(to: URL(fileURLWithPath: folder.shown))
            #expect(try await refusal() == nil)
        }
    }

    // MARK: The folder

    @Test func oneProcessHasIt() async throws {
        let kept = folder.open()
        #expect(kept != nil)
        #expect(folder.open() == nil)
        withExtendedLifetime(kept) {}
        #expect(folder.remarks == [])
    }

    @Test func nothingIsKeptOnAFullDisk() async throws {
        let kept = try #require(folder.open(hasRoom: false))
        let follower = try await fixture.follow(kept: kept)
        try await fixture.extend(300..<400)
        try await follower.step()
        #expect(follower.log.published.head.size == 400)
        #expect(kept.isEmpty)
        #expect(folder.remarks == ["frames are not kept any more: the disk is nearly full"])
    }

    @Test func aFolderThatIsNotThereKeepsNothing() async throws {
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(folder.open() == nil)
        #expect(folder.remarks.count == 1)
    }
}
