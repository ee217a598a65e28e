// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
package import Platform
package import SignetClient
public import TransparencyLog

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What an auditor of one log keeps, in a folder that only its owner may enter:
///
/// | file | what |
/// |---|---|
/// | `checkpoint` | the largest checkpoint that was audited and found sound; replaced whole, after the entries |
/// | `tile/entries/…` | every entry up to it, so that the folder is a mirror that others can audit from |
/// | `evidence-…` | what the log did; never removed, at most replaced by a stronger proof of the same. With one of these nothing is cosigned any more |
///
/// After a stop the entries are replayed: they are the only state that needs no trust, a replay is quick, and where the
/// log is guilty they are part of the evidence. What a crash took of them is fetched again.
public struct AuditFolder: Sendable {
    /// The folder.
    public let path: String

    /// The folder at a path, which need not exist.
    public init(path: String) { self.init(path: path, freeByteCount: { FileSystemRoom(holding: $0)?.free }) }

    /// The same, with a hook before and after every step of replacing `checkpoint`, and on a disk of the test's.
    package init(
        path: String,
        freeByteCount: @escaping @Sendable (String) -> UInt64? = { FileSystemRoom(holding: $0)?.free },
        hook: @escaping @Sendable (DurableFile.Step, Bool) throws(FileFault) -> Void = { _, _ throws(FileFault) in }
    ) {
        self.path = path
        self.hook = hook
        self.freeByteCount = freeByteCount
    }

    /// How the folders of audits below a home folder begin.
    public static let namePrefix = "audit-"

    /// The folder below a home folder for the log with this key; nil stands for a policy without a log.
    public static func below(_ home: String, for key: KeyID?) -> AuditFolder {
        let name = key.map { String(decoding: Hex.encode($0.bytes), as: UTF8.self) } ?? "none"
        return AuditFolder(path: home + "/" + namePrefix + name)
    }

    /// The folders of audits below a home folder, but for one.
    static func all(in home: String, besides own: AuditFolder) -> [AuditFolder] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
        return names.sorted().filter { $0.hasPrefix(namePrefix) }.map { AuditFolder(path: home + "/" + $0) }
            .filter { $0.path != own.path }
    }

    /// The key of the log, if the folder was named by ``below(_:for:)``.
    var logKeyID: KeyID? {
        guard let name = path.split(separator: "/").last, name.hasPrefix(Self.namePrefix) else { return nil }
        let digits = name.dropFirst(Self.namePrefix.count)
        return digits.count == 8 ? UInt32(digits, radix: 16).map(KeyID.init(rawValue:)) : nil
    }

    /// This many bytes of the disk are reserved for evidence, checkpoints and other files.
    package static let reservedByteCount: UInt64 = 256 << 20

    private let freeByteCount: @Sendable (String) -> UInt64?

    /// How many bytes may still be written to the file system; nil: it cannot be asked.
    package var room: UInt64? { freeByteCount(path) }

    private let hook: @Sendable (DurableFile.Step, Bool) throws(FileFault) -> Void
    private var home: HomeFolder { HomeFolder(path: path) }

    /// Makes the folder and keeps other auditors out of it until the lock is gone; nil when another one is at work.
    func prepare() throws(FileFault) -> HomeLock? {
        try home.prepare()
        return try home.lock()
    }

    /// The largest checkpoint that was audited.
    var checkpoint: DurableFile { DurableFile(path: path + "/checkpoint", hook: hook) }

    /// The bytes of an entry bundle; nil if it is not here.
    func bundle(_ tile: Tile) -> [UInt8]? {
        let file = DurableFile(path: name(of: tile))
        return try? file.read(maximumByteCount: tile.width * (2 + EntryBundle.maximumEntryByteCount))
    }

    /// Keeps an entry bundle. A reader sees all of it or nothing, but a crash may take it: then it is fetched again.
    ///
    /// - Throws: `FileFault`; ``FileFault/noSpace`` while there is still room for evidence: no log fills the disk.
    func keep(_ bytes: [UInt8], of tile: Tile) throws(FileFault) {
        guard freeByteCount(path) ?? .max >= Self.reservedByteCount + UInt64(bytes.count) else { throw .noSpace }
        let file = URL(filePath: name(of: tile))
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: file, options: .atomic)
        } catch { throw FileFault(cocoa: error) }
    }

    /// Forgets an entry bundle.
    func remove(_ tile: Tile) { try? FileManager.default.removeItem(atPath: name(of: tile)) }

    /// The names of all files of evidence, in order.
    public func evidenceNames() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasPrefix("evidence-") && !$0.hasSuffix(".new") }.sorted()
    }

    /// A file of evidence.
    func evidence(_ name: String) -> DurableFile { DurableFile(path: path + "/" + name) }

    /// Keeps evidence permanently; evidence that is already there is not kept twice.
    ///
    /// - Returns: the path.
    func keep(_ evidence: Evidence) throws(FileFault) -> String {
        let bytes = evidence.encoded
        for number in 1...Int(Int32.max) {
            let file = self.evidence("evidence-\(number)")
            do {
                try file.create(bytes)
                return file.path
            } catch {
                guard error == .exists else { throw error }
                if (try? file.read(maximumByteCount: Evidence.maximumByteCount)) == bytes { return file.path }
            }
        }
        throw .noSpace
    }

    /// Puts stronger evidence of the same fault in the place of weaker.
    func replace(evidenceAt path: String, with evidence: Evidence) throws(FileFault) {
        try DurableFile(path: path).replace(with: evidence.encoded)
    }

    private func name(of tile: Tile) -> String { path + "/" + String(decoding: tile.path, as: UTF8.self) }
}

extension FileFault {
    /// What Foundation says of a file that it could not write.
    fileprivate init(cocoa error: any Error) {
        switch (error as? CocoaError)?.code {
        case .fileWriteOutOfSpace: self = .noSpace
        case .fileWriteNoPermission: self = .notPermitted
        case .fileWriteVolumeReadOnly: self = .readOnly
        default: self = .system(0)
        }
    }
}
