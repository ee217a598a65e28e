// SPDX-License-Identifier: Apache-2.0

import LogEngine
import SignetTesting
import TransparencyLog

/// A fixed run of appends over every kind of boundary, and what its disk must hold however it ends.
struct ScriptedRun {
    /// Group sizes: single entries, a bundle boundary inside a group and at the end of one, several segments.
    static let groups = [1, 3, 250, 2, 5, 300, 1, 206, 1]

    private static let script = LogFixture.entries(0..<groups.reduce(0, +) + 2)

    let fixture = LogFixture()
    /// How many entries were acknowledged.
    private(set) var acknowledged = 0

    /// Opens the log on `storage` and goes through the run until something fails.
    mutating func perform(on storage: any LogFileSystem) async throws {
        guard let log = try await opened(storage) else { return }
        for (step, count) in Self.groups.enumerated() {
            let start = Self.groups[..<step].reduce(0, +)
            guard let range = try? await log.append(Array(Self.script[start..<start + count])) else { break }
            acknowledged = Int(range.upperBound)
            guard (try? await log.awaitPublished(size: range.upperBound)) != nil else { break }
            if step == 4 { _ = try? await log.republish() }
        }
        await log.close()
    }

    /// nil when the storage fails while opening.
    private func opened(_ storage: any LogFileSystem) async throws -> DurableLog? {
        do throws(LogOpenError) {
            return try await DurableLog.open(in: storage, try fixture.configurationOrRefusal())
        } catch {
            switch error {
            case .file, .directoryNotWritable, .lockRecord(.file): return nil
            default: throw error
            }
        }
    }

    /// Opens the log that the run left on `disk`, checks it, and appends one more entry, as earlier checks of the same
    /// disk did.
    func check(_ disk: any LogFileSystem, checksBefore: Int = 0) async throws -> [Broken] {
        var broken: [Broken] = []
        let log = try await LogFixture().log(on: disk)
        let size = Int(log.published.head.size)
        if size < acknowledged + checksBefore { broken.append(.lost(size: size, acknowledged: acknowledged)) }
        if !Self.boundaries.contains(size - checksBefore) { broken.append(.partOfAGroup(size: size)) }
        for start in stride(from: 0, to: size, by: 256) {
            let end = min(size, start + 256)
            let bundle = try await log.entryBundle(index: UInt64(start / 256), width: end - start)
            if bundle != Self.script.bundle(start..<end) { broken.append(.otherEntries(start..<end)) }
        }
        for checkpoint in fixture.published where try log.root(size: checkpoint.head.size) != checkpoint.head.root {
            broken.append(.forked(checkpoint.head))
        }
        let next = try await log.append([Self.script[size]])
        if next != UInt64(size)..<UInt64(size) + 1 { broken.append(.lost(size: size, acknowledged: size)) }
        await log.close()
        return broken
    }

    /// A promise of the log that does not hold.
    enum Broken: Equatable {
        case lost(size: Int, acknowledged: Int)
        case partOfAGroup(size: Int)
        case otherEntries(Range<Int>)
        case forked(TreeHead)
    }

    private static let boundaries = Set(groups.indices.map { groups[...$0].reduce(0, +) } + [0])

    /// A disk with a new, empty log.
    static func disk() async throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        try await DurableLog.create(in: disk, try LogFixture().configuration())
        return disk
    }
}

extension LogFixture {
    /// ``configuration(origin:)`` for functions that throw nothing but refusals.
    func configurationOrRefusal() throws(LogOpenError) -> LogConfiguration {
        do { return try configuration() } catch { throw .noLog }
    }
}

extension [[UInt8]] {
    /// A tlog-tiles entry bundle of some of the entries.
    fileprivate func bundle(_ range: Range<Int>) -> [UInt8] { Reference.bundle(self[range]) }
}
