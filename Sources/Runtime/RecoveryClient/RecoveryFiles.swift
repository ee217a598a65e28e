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
/// | `recovery` | a recovery under way on this device |
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

    /// Whether this device has chosen guardians, or has given those in force anything to guard.
    public var isGuarded: Bool {
        get throws(RecoveryClientError) {
            let (chosen, given) = (try read(setup), try read(kept))
            return chosen != nil || given != nil
        }
    }

    /// Whether guardians are asked who are not in force yet.
    public var isAsking: Bool {
        get throws(RecoveryClientError) { try read(nextSetup) != nil }
    }

    /// What is kept for others.
    package func keptDuties() throws(RecoveryClientError) -> [GuardianDuty] {
        try list(in: duties) { try GuardianDuty(decoding: $0) }
    }

    private func file(_ name: String) -> DurableFile { DurableFile(path: folder + "/" + name) }

    /// A file's bytes; nil when it is not there, or was emptied.
    func read(_ file: DurableFile) throws(RecoveryClientError) -> [UInt8]? {
        guard file.exists else { return nil }
        do {
            let bytes = try file.read(maximumByteCount: Self.maximumByteCount)
            return bytes.isEmpty ? nil : bytes
        } catch { throw .file(error) }
    }

    /// Empties a file; durable when the call returns.
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
        } catch { throw .damaged }
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
