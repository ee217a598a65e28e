// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import ProtocolTesting
import SignetClient
import Synchronization
import Testing
import TransparencyLog

@testable import LogAuditor

/// Logs that try to fill an auditor's disk and memory before they are convicted.
@Suite struct EndlessLogTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func failure(_ body: () async throws(AuditorError) -> Void) async -> AuditorError? {
        do {
            try await body()
            return nil
        } catch { return error }
    }

    private func byteCount() throws -> Int {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return names.reduce(0) { sum, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder.below(name))
            return sum
                + ((attributes?[.type] as? FileAttributeType) == .typeRegular
                    ? Int(attributes?[.size] as? UInt64 ?? 0) : 0)
        }
    }

    /// A log of four thousand million equal entries of 60 kB: one bundle is enough to convict it.
    @Test func anEndlessLogOfUnknownEntriesIsConvictedByItsFirstBundle() async throws {
        let junk = try EndlessJunk()
        let auditor = try Auditor(
            of: junk.policy, at: junk, keeping: AuditFolder(path: folder.below("state")),
            clock: { ForgedLog.now })
        let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
        guard case .guilty(let guilt) = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(guilt.deed == .unknownEntry(at: 0))
        let kept = try Evidence(decoding: Array(Data(contentsOf: URL(filePath: guilt.path))))
        #expect(throws: Never.self) { try EvidenceVerifier(policy: junk.policy).verify(kept) }
        #expect(junk.readCount < 40)
        #expect(try byteCount() < 1 << 20, "a conviction needs an entry and a path, no log")
    }

    /// The same from a log that hides its hashes: no proof shows that the entries are the log's, and they are not kept.
    @Test func unknownEntriesWithoutProofAreNotKept() async throws {
        let junk = try EndlessJunk(showsHashes: false)
        var limits = AuditLimits()
        limits.stepByteCount = 1 << 24
        let state = AuditFolder(path: folder.below("state"))
        let auditor = try Auditor(of: junk.policy, at: junk, keeping: state, limits: limits, clock: { ForgedLog.now })
        for step in 1...2 {
            let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
            #expect(found == .paused(at: UInt64(step) * 512, of: EndlessJunk.size))
        }
        #expect(try byteCount() < 1 << 20)
    }

    /// A fault in a large log is shown by a few entries, which were found a bundle at a time.
    @Test(arguments: ForgedFault.allCases) func aLargeLogIsConvictedByFewEntries(_ fault: ForgedFault) async throws {
        let log = try ForgedLog()
        try log.grow(epochs: 3, people: 150)
        try log.commit(fault)
        if fault != .missingEpochRecord { for number in 0..<600 { log.append(Array("junk \(number)\n".utf8)) } }
        let source = ServedLog()
        try source.serve(log)
        let auditor = try Auditor(
            of: log.policy(), at: source, keeping: AuditFolder(path: folder.below("state")),
            clock: { ForgedLog.now })
        let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
        #expect(found?.claim == fault.name.rawValue)
        guard case .guilty(let guilt) = found, case .rule(let rule) = guilt.evidence else { return }
        #expect(rule.entries.isEmpty == !fault.isShownByEntries)
        #expect(rule.entries.count <= RuleEvidence.maximumEntryCount)
    }

    @Test func aLongLogIsReadInSteps() async throws {
        let log = try ForgedLog()
        try log.grow(epochs: 4, people: 300)
        let source = ServedLog()
        try source.serve(log)
        var limits = AuditLimits()
        limits.stepByteCount = 1
        let state = AuditFolder(path: folder.below("state"))
        let auditor = try Auditor(
            of: log.policy(), at: source, keeping: state, limits: limits, clock: { ForgedLog.now })
        var pauses = 0
        while let found = await failure({ () throws(AuditorError) in _ = try await auditor.auditPublished() }) {
            pauses += 1
            #expect(found == .paused(at: UInt64(pauses * 256), of: log.size))
            #expect(await !auditor.isSound(try log.tree.head(size: log.size)))
            try #require(pauses < 20)
        }
        #expect(pauses == Int(log.size) / 256)
        #expect(await auditor.isSound(try log.tree.head(size: log.size)))
    }

    @Test func anAlmostFullDiskKeepsNoEntries_butStillEvidence() async throws {
        let log = try ForgedLog()
        try log.grow(epochs: 2, people: 150)
        let source = ServedLog()
        try source.serve(log)
        let state = AuditFolder(path: folder.below("state"), freeByteCount: { _ in AuditFolder.reservedByteCount })
        let auditor = try Auditor(of: log.policy(), at: source, keeping: state, clock: { ForgedLog.now })
        let found = await failure { () throws(AuditorError) in _ = try await auditor.auditPublished() }
        #expect(found == .folder(.noSpace))
        #expect(try byteCount() == 0)
        let liar = try ForgedLog()
        try liar.commit(.unknownEntry)
        try source.serve(liar)
        let other = AuditFolder(path: folder.below("other"), freeByteCount: { _ in 0 })
        let second = try Auditor(of: liar.policy(), at: source, keeping: other, clock: { ForgedLog.now })
        let guilty = await failure { () throws(AuditorError) in _ = try await second.auditPublished() }
        #expect(guilty?.claim == "unknown-entry")
        #expect(FileManager.default.fileExists(atPath: folder.below("other/evidence-1")))
    }
}

/// A log in which all entries are the same unknown text. It signed its tree properly, and makes tiles on request.
final class EndlessJunk: LogSource {
    static let size: UInt64 = 0xFFFF_FF00

    let policy: Policy
    private let bundle: [UInt8]
    /// The root over 2^level entries, by level.
    private let roots: [TreeHash]
    private let note: SignedNote
    private let showsHashes: Bool
    private let counter = Mutex(0)

    var readCount: Int { counter.withLock { $0 } }

    init(showsHashes: Bool = true) throws {
        self.showsHashes = showsHashes
        let log = try ForgedLog()
        policy = try log.policy()
        let junk = [UInt8](repeating: UInt8(ascii: "j"), count: 60_000)
        bundle = try EntryBundle(entries: Array(repeating: junk, count: Tile.fullWidth)).encoded
        var roots = [TreeHash.leaf(junk)]
        for level in 0..<40 { roots.append(.node(roots[level], roots[level])) }
        self.roots = roots
        var root: TreeHash?
        for level in 0..<40 where Self.size >> UInt64(level) & 1 == 1 {
            root = root.map { .node(roots[level], $0) } ?? roots[level]
        }
        let head = TreeHead(size: Self.size, root: root ?? .emptyTree)
        note = try log.sign(head)
    }

    func file(_ path: [UInt8], maximumByteCount: Int) async throws(LogSourceError) -> [UInt8]? {
        counter.withLock { $0 += 1 }
        let path = String(decoding: path, as: UTF8.self)
        if path == "checkpoint" { return note.encoded }
        if path.hasPrefix("tile/entries/") { return bundle }
        guard showsHashes, let level = path.split(separator: "/").dropFirst().first.flatMap({ Int($0) }) else {
            return nil
        }
        let width = path.split(separator: ".p/").dropFirst().first.flatMap { Int($0) } ?? Tile.fullWidth
        return Array(repeating: roots[8 * level].bytes, count: width).flatMap(\.self)
    }
}
