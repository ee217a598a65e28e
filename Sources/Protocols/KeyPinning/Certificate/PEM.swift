// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// The blocks of a PEM file. Lines outside of blocks are remarks and are ignored.
///
/// Spec: RFC 7468 section 2, without blanks inside of lines.
public struct PEMBlock: Hashable, Sendable {
    /// What it is, such as `CERTIFICATE`.
    public let label: [UInt8]
    /// What is in it.
    public let bytes: [UInt8]
    /// The line of its `-----BEGIN`, from 1.
    public let line: Int

    /// The label of certificates.
    public static let certificate = Array("CERTIFICATE".utf8)

    /// Reads every block of a file.
    ///
    /// - Throws: ``PEMFault``: with the line.
    public static func all(in text: [UInt8]) throws(PEMFault) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var open: (label: [UInt8], line: Int, text: [UInt8])?
        var number = 0
        for piece in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let line = piece.last == UInt8(ascii: "\r") ? piece.dropLast() : piece
            if let label = label(of: line, after: begin) {
                guard open == nil else { throw .nested(line: number) }
                open = (label, number, [])
            } else if let label = self.label(of: line, after: end) {
                guard let block = open, block.label == label else { throw .unexpectedEnd(line: number) }
                guard let bytes = try? Base64.decode(block.text) else { throw .invalidBase64(line: block.line) }
                blocks.append(PEMBlock(label: label, bytes: bytes, line: block.line))
                open = nil
            } else {
                open?.text += line
            }
        }
        if let open { throw .unfinished(line: open.line) }
        return blocks
    }

    /// The certificates of a file, DER, in order.
    ///
    /// - Throws: ``PEMFault``: ``PEMFault/noCertificate`` when there is none.
    public static func certificates(in text: [UInt8]) throws(PEMFault) -> [[UInt8]] {
        let found = try all(in: text).filter { $0.label == certificate }
        guard !found.isEmpty else { throw .noCertificate }
        return found.map(\.bytes)
    }

    /// A certificate's block, in lines of 64 characters.
    public static func text(_ der: [UInt8]) -> [UInt8] {
        var text = begin + certificate + dashes + [0x0A]
        var rest = Base64.encode(der)[...]
        while !rest.isEmpty {
            text += rest.prefix(64) + [0x0A]
            rest = rest.dropFirst(64)
        }
        return text + end + certificate + dashes + [0x0A]
    }

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    private static func label(of line: ArraySlice<UInt8>, after start: [UInt8]) -> [UInt8]? {
        guard line.starts(with: start), line.count > start.count + dashes.count, line.suffix(5) == dashes[...]
        else { return nil }
        return Array(line.dropFirst(start.count).dropLast(dashes.count))
    }
}

/// What is wrong with a PEM file. Lines count from 1.
public enum PEMFault: Error, Hashable, Sendable {
    /// A block begins inside of another.
    case nested(line: Int)
    /// A block ends that has not begun, or under another name.
    case unexpectedEnd(line: Int)
    /// The block that begins at this line is not base64.
    case invalidBase64(line: Int)
    /// The block that begins at this line never ends.
    case unfinished(line: Int)
    /// There is no certificate in the file.
    case noCertificate
}
