// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Reads the parts of a tlog-proof in their order.
struct TlogProofReader {
    static let header = Array("c2sp.org/tlog-proof@v1".utf8)
    static let extraPrefix = Array("extra ".utf8)
    static let indexPrefix = Array("index ".utf8)

    private var rest: ArraySlice<UInt8>

    init(_ text: [UInt8]) { rest = text[...] }

    mutating func header() throws(TlogProofError) {
        guard try line() == Self.header[...] else { throw .unknownHeader }
    }

    mutating func extra() throws(TlogProofError) -> [UInt8]? {
        guard rest.starts(with: Self.extraPrefix) else { return nil }
        let text = try line().dropFirst(Self.extraPrefix.count)
        guard !text.isEmpty else { throw .extraEmpty }
        do throws(CanonicalCodingError) { return try Base64.decode(text) } catch { throw .extra(error) }
    }

    mutating func index() throws(TlogProofError) -> UInt64 {
        guard rest.starts(with: Self.indexPrefix) else { throw .indexMissing }
        let text = try line().dropFirst(Self.indexPrefix.count)
        do throws(CanonicalCodingError) { return try Decimal.decode(text) } catch { throw .index(error) }
    }

    /// The hash lines and the empty line that ends them.
    mutating func hashes() throws(TlogProofError) -> [TreeHash] {
        var hashes: [TreeHash] = []
        while true {
            let text = try line()
            if text.isEmpty { return hashes }
            guard hashes.count < TlogProof.maximumHashCount else { throw .tooManyHashes }
            guard let bytes = try? Base64.decode(text), let hash = TreeHash(bytes) else {
                throw .malformedHash(line: hashes.count)
            }
            hashes.append(hash)
        }
    }

    /// Everything that is left.
    func note() throws(TlogProofError) -> SignedNote {
        do throws(NoteError) { return try SignedNote(decoding: rest) } catch { throw .note(error) }
    }

    private mutating func line() throws(TlogProofError) -> ArraySlice<UInt8> {
        guard let end = rest.firstIndex(of: 0x0A) else { throw .truncated }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }
}
