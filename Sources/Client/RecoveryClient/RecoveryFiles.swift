// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import SignetClient
package import SocialRecovery

/// What guardians and recoveries leave in a home folder. Each file is replaced as a whole.
///
/// | file | what |
/// |---|---|
/// | `guardians` | the set of guardians in force |
/// | `guardians-next`, `guardians-next-file` | the set that is being asked, and what a new device will fetch |
/// | `guardians-kept`, `guardians-next-kept` | what was given to those sets to guard, as hashes |
/// | `guardians-former-kept` | what was given to the sets before to guard, as hashes |
/// | `guardians-check` | what guardians were asked last, and who showed that they keep their share |
/// | `guardian-duties`, `guardian-cases` | what is kept for others, and requests to recover them |
/// | `guardian-objections` | objections of owners' devices that came besides the log |
/// | `recovery`, `recovery-copy` | a recovery under way on this device, twice: without it a request in the log keeps even this device waiting |
/// | `recovery-damaged-1`, … | what was in the place of one and could not be read |
public struct RecoveryFiles: Sendable {
    private static let maximumByteCount = 8 << 20
    private let folder: String

    /// The files of a home folder.
    public init(in home: HomeFolder) { folder = home.path }

    var setup: DurableFile { file("guardians") }
    var nextSetup: DurableFile { file("guardians-next") }
    var nextContents: DurableFile { file("guardians-next-file") }
    var kept: DurableFile { file("guardians-kept") }
    var nextKept: DurableFile { file("guardians-next-kept") }
    var formerKept: DurableFile { file("guardians-former-kept") }
    var check: DurableFile { file("guardians-check") }
    var duties: DurableFile { file("guardian-duties") }
    var cases: DurableFile { file("guardian-cases") }
    var objections: DurableFile { file("guardian-objections") }
    var recovery: DurableFile { file("recovery") }
    var recoveryCopy: DurableFile { file("recovery-copy") }

    /// Whether this device has chosen guardians, or has given those in force anything to guard.
    public var isGuarded: Bool {
        get throws(RecoveryClientError) {
            let (chosen, given) = (try read(setup), try read(kept))
            return chosen != nil || given != nil
        }
    }

    /// Whether guardians who are not in force yet are being asked.
    public var isAsking: Bool {
        get throws(RecoveryClientError) { try read(nextSetup) != nil }
    }

    /// Whether a recovery is under way on this device: the identity was asked for, and is not this device's yet.
    ///
    /// - Throws: ``RecoveryClientError``.
    public var isRecovering: Bool {
        get throws(RecoveryClientError) { try readRecovery()?.isUnderWay ?? false }
    }

    /// What is kept for others.
    package func keptDuties() throws(RecoveryClientError) -> [GuardianDuty] {
        try list(in: duties) { try GuardianDuty(decoding: $0) }
    }

    private func file(_ name: String) -> DurableFile { DurableFile(path: folder + "/" + name) }

    /// A file's bytes; nil when it is not there, or was emptied by ``clear(_:)``.
    ///
    /// - Throws: ``RecoveryClientError/damaged(_:)``: it is empty, and no program emptied it.
    func read(_ file: DurableFile) throws(RecoveryClientError) -> [UInt8]? {
        guard file.exists else { return nil }
        let bytes: [UInt8]
        do { bytes = try file.read(maximumByteCount: Self.maximumByteCount) } catch { throw .file(error) }
        guard bytes.isEmpty else { return bytes }
        guard file.path == nextSetup.path || file.path == check.path else { throw damaged(file) }
        return nil
    }

    /// Empties ``nextSetup`` or ``check``; durable when the call returns.
    func clear(_ file: DurableFile) throws(RecoveryClientError) { if file.exists { try write([], to: file) } }

    /// Replaces a file; durable when the call returns.
    func write(_ bytes: [UInt8], to file: DurableFile) throws(RecoveryClientError) {
        do { try file.replace(with: bytes) } catch { throw .file(error) }
    }

    /// Reads a value.
    func value<Value>(
        in file: DurableFile, _ decode: ([UInt8]) throws -> Value
    ) throws(RecoveryClientError) -> Value? {
        guard let bytes = try read(file) else { return nil }
        do { return try decode(bytes) } catch RecoveryFormatError.anotherVersion {
            throw .anotherVersion
        } catch { throw damaged(file) }
    }

    private func damaged(_ file: DurableFile) -> RecoveryClientError {
        .damaged(String(file.path.dropFirst(folder.count + 1)))
    }

    // MARK: The recovery under way

    /// The recovery under way on this device; nil when there is none.
    func readRecovery() throws(RecoveryClientError) -> RecoveryRecord? {
        let fault: RecoveryClientError?
        do throws(RecoveryClientError) {
            if let record = try value(in: recovery, { try RecoveryRecord(decoding: $0) }) { return record }
            fault = nil
        } catch {
            guard case .damaged = error else { throw error }
            fault = error
        }
        if let copy = try? value(in: recoveryCopy, { try RecoveryRecord(decoding: $0) }) { return copy }
        if let fault { throw fault }
        return nil
    }

    /// Keeps a recovery, its copy first: of two that can be read the file itself counts.
    func write(_ record: RecoveryRecord) throws(RecoveryClientError) {
        for file in [recoveryCopy, recovery] { try write(record.encoded, to: file) }
    }

    /// Puts what is in the place of the recovery out of the way; nothing of it is lost.
    func setAsideRecovery() throws(RecoveryClientError) {
        let bytes: [UInt8]
        do { bytes = try recovery.read(maximumByteCount: Self.maximumByteCount) } catch { throw .file(error) }
        guard !bytes.isEmpty else { return }
        for number in 1... {
            do throws(FileFault) { return try file("recovery-damaged-\(number)").create(bytes) } catch {
                guard error == .exists else { throw .file(error) }
            }
        }
    }

    /// Reads a list of values.
    func list<Value>(
        in file: DurableFile, _ decode: ([UInt8]) throws -> Value
    ) throws(RecoveryClientError) -> [Value] {
        try value(in: file) { bytes in
            var reader = ByteReader(bytes)
            var values: [Value] = []
            for _ in 0..<(try reader.uint16()) { values.append(try decode(Array(reader.bytes(Int(reader.uint32()))))) }
            try reader.end()
            return values
        } ?? []
    }

    /// Writes a list of values.
    func write(list: [[UInt8]], to file: DurableFile) throws(RecoveryClientError) {
        var writer = ByteWriter()
        writer.write(UInt16(truncatingIfNeeded: list.count))
        for bytes in list {
            writer.write(UInt32(truncatingIfNeeded: bytes.count))
            writer.write(bytes)
        }
        try write(writer.bytes, to: file)
    }
}
