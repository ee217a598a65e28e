// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import TransparencyLog

/// Why bytes are not a file of evidence. None is worth a retry.
public enum EvidenceError: Error, Hashable, Sendable {
    /// More than ``Evidence/maximumByteCount`` bytes.
    case tooLong(byteCount: Int)
    /// The first line is not `signet-evidence/v1`.
    case unknownFormat
    /// The second line is neither `fork` nor the name of a fault.
    case unknownClaim
    /// A line, number, hash or length is not in its one form, or something is missing or left over.
    case malformed(CanonicalCodingError)
    /// A line does not begin with the word that must stand there.
    case unexpectedLine
    /// A hash does not have 32 bytes, or there are more than 63 in a row.
    case malformedHash
    /// A checkpoint is not a signed note.
    case note(NoteError)
    /// More entries than any fault needs, or a longer one than logs have.
    case tooManyEntries
}

/// The file of evidence: lines, and after each line with a length as many raw bytes.
///
/// ```
/// signet-evidence/v1                       signet-evidence/v1
/// fork                                     second-step
/// checkpoint <length>                      at <index>
/// <signed note>                            checkpoint <length>
/// checkpoint <length>                      <signed note>
/// <signed note>                            entry <length> <index> <number of hashes>
/// link <number of hashes>    ┐ only if     <entry>
/// <base64 root>              │ sizes       <base64 hash>…
/// <base64 hash>…             ┘ differ
/// ```
extension Evidence {
    /// The longest file, in bytes.
    public static let maximumByteCount = 2 * SignedNote.maximumByteCount + (1 << 18)

    static let format = Array("signet-evidence/v1".utf8)
    static let forkWord = Array("fork".utf8)

    /// Reads a file of evidence. Nothing is verified yet.
    ///
    /// - Throws: ``EvidenceError``: not exactly what ``encoded`` prints.
    public init(decoding bytes: [UInt8]) throws(EvidenceError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(byteCount: bytes.count) }
        var reader = EvidenceReader(bytes)
        guard let format = try? reader.line(), format == Self.format else { throw .unknownFormat }
        let word = try reader.line()
        if word == Self.forkWord {
            self = .fork(try reader.fork())
        } else if let fault = FaultName(rawValue: String(decoding: word, as: UTF8.self)) {
            self = .rule(try reader.rule(fault))
        } else {
            throw .unknownClaim
        }
        try reader.end()
    }

    /// The file.
    public var encoded: [UInt8] {
        var writer = EvidenceWriter()
        writer.line(Self.format)
        switch self {
        case .fork(let fork): writer.write(fork)
        case .rule(let rule): writer.write(rule)
        }
        return writer.bytes
    }
}

/// Writes what ``EvidenceReader`` reads.
private struct EvidenceWriter {
    private(set) var bytes: [UInt8] = []

    mutating func line(_ line: [UInt8]) { bytes += line + [0x0A] }

    mutating func write(_ fork: ForkEvidence) {
        line(Evidence.forkWord)
        write(fork.first)
        write(fork.second)
        guard let link = fork.link else { return }
        numbers("link", link.proof.hashes.count)
        hashes([link.root] + link.proof.hashes)
    }

    mutating func write(_ rule: RuleEvidence) {
        line(Array(rule.fault.rawValue.utf8))
        line(Array("at ".utf8) + Decimal.encode(rule.place))
        write(rule.checkpoint)
        for entry in rule.entries {
            let index = Decimal.encode(entry.inclusion.index)
            line(
                [Array("entry".utf8), Self.decimal(entry.bytes.count), index]
                    .joined(separator: [0x20]) + [0x20] + Self.decimal(entry.inclusion.hashes.count))
            bytes += entry.bytes
            hashes(entry.inclusion.hashes)
        }
    }

    private mutating func write(_ note: SignedNote) {
        let note = note.encoded
        numbers("checkpoint", note.count)
        bytes += note
    }

    private mutating func numbers(_ word: String, _ number: Int) {
        line(Array(word.utf8) + [0x20] + Self.decimal(number))
    }

    private mutating func hashes(_ hashes: [TreeHash]) {
        for hash in hashes { line(Base64.encode(hash.bytes)) }
    }

    private static func decimal(_ number: Int) -> [UInt8] { Decimal.encode(UInt64(number)) }
}

/// Reads the parts of a file in their order.
private struct EvidenceReader {
    private var reader: ByteReader

    init(_ bytes: [UInt8]) { reader = ByteReader(bytes) }

    mutating func line() throws(EvidenceError) -> [UInt8] {
        do throws(CanonicalCodingError) { return Array(try reader.line(maximumLength: 80)) } catch {
            throw .malformed(error)
        }
    }

    func end() throws(EvidenceError) {
        do throws(CanonicalCodingError) { try reader.end() } catch { throw .malformed(error) }
    }

    mutating func fork() throws(EvidenceError) -> ForkEvidence {
        let (first, second) = (try note(), try note())
        guard reader.remaining > 0 else { return ForkEvidence(first: first, second: second) }
        let count = try numbers("link", 1)[0]
        let root = try hash()
        let link = ForkEvidence.Link(root: root, proof: ConsistencyProof(hashes: try hashes(count)))
        return ForkEvidence(first: first, second: second, link: link)
    }

    mutating func rule(_ fault: FaultName) throws(EvidenceError) -> RuleEvidence {
        let place = try numbers("at", 1)[0]
        let checkpoint = try note()
        var entries: [RuleEvidence.Entry] = []
        while reader.remaining > 0 {
            guard entries.count < RuleEvidence.maximumEntryCount else { throw .tooManyEntries }
            entries.append(try entry())
        }
        return RuleEvidence(fault: fault, place: place, checkpoint: checkpoint, entries: entries)
    }

    private mutating func entry() throws(EvidenceError) -> RuleEvidence.Entry {
        let numbers = try numbers("entry", 3)
        guard numbers[0] <= EntryBundle.maximumEntryByteCount else { throw .tooManyEntries }
        let bytes = try raw(numbers[0])
        let proof = InclusionProof(index: numbers[1], hashes: try hashes(numbers[2]))
        return RuleEvidence.Entry(bytes: bytes, inclusion: proof)
    }

    private mutating func note() throws(EvidenceError) -> SignedNote {
        let bytes = try raw(try numbers("checkpoint", 1)[0])
        do throws(NoteError) { return try SignedNote(decoding: bytes) } catch { throw .note(error) }
    }

    private mutating func raw(_ count: UInt64) throws(EvidenceError) -> [UInt8] {
        let count = Int(exactly: count) ?? .max
        do throws(CanonicalCodingError) { return Array(try reader.bytes(count)) } catch {
            throw .malformed(error)
        }
    }

    private mutating func hashes(_ count: UInt64) throws(EvidenceError) -> [TreeHash] {
        guard count <= 63 else { throw .malformedHash }
        var hashes: [TreeHash] = []
        for _ in 0..<count { hashes.append(try hash()) }
        return hashes
    }

    private mutating func hash() throws(EvidenceError) -> TreeHash {
        let line = try line()
        let bytes: [UInt8]
        do throws(CanonicalCodingError) { bytes = try Base64.decode(line) } catch { throw .malformed(error) }
        guard let hash = TreeHash(bytes) else { throw .malformedHash }
        return hash
    }

    /// The numbers of a line that begins with `word`.
    private mutating func numbers(_ word: String, _ count: Int) throws(EvidenceError) -> [UInt64] {
        let parts = try line().split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == count + 1, parts[0].elementsEqual(word.utf8) else { throw .unexpectedLine }
        var numbers: [UInt64] = []
        for part in parts.dropFirst() {
            do throws(CanonicalCodingError) { numbers.append(try Decimal.decode(part)) } catch {
                throw .malformed(error)
            }
        }
        return numbers
    }
}
