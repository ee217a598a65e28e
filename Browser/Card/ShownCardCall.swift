// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Credentials
import SelectiveDisclosure
import StrictJSON

/// A business card that somebody shows. Input: its text, with its length; u64 now. Result: 1 accepted, 0 refused, -1 the call is malformed.
///
/// Output of 1: u64 when it was shown, u64 until when it counts, the name of its key, u8 count of lines, and of each its name and its text;
/// what is proved, and three sentences of what is not.
/// Output of 0: the name of the check that refused it, what is wrong, and what to do. Texts are UTF-8, each with its length.
@_cdecl("signet_card") public func signetCard() -> Int32 {
    output = []
    var fields = Fields()
    let text: [UInt8]
    let now: UInt64
    do throws(CanonicalCodingError) {
        text = try fields.bytes()
        now = try fields.reader.uint64()
        try fields.reader.end()
    } catch { return -1 }
    var writer = ByteWriter()
    do throws(PresentationFault) {
        let shown = try ShownCard.verify(
            text, types: [BusinessCard.type], trusting: IssuerTrust(acceptsSelfIssued: true), at: Int64(clamping: now))
        guard case .holder(let name) = shown.issuer, let time = shown.signedAt else { throw .issuerUntrusted }
        writer.write(UInt64(clamping: time))
        writer.write(UInt64(clamping: time) + UInt64(ShownCard.maximumAge))
        write(name.utf8, to: &writer)
        let lines = BusinessCard.Field.allCases.compactMap { field in
            shown.claims[field.claim]?.string.map { (Array(field.words.utf8), $0.utf8) }
        }
        writer.write(UInt8(truncatingIfNeeded: lines.count))
        for (name, text) in lines {
            write(name, to: &writer)
            write(text, to: &writer)
        }
        write(words: [ShownCardWords.proved] + ShownCardWords.notProved, to: &writer)
        output = writer.bytes
        return 1
    } catch {
        let refusal = ShownCardRefusal(error)
        write(Array(error.rawValue.utf8), to: &writer)
        write(words: [refusal.what, refusal.remedy], to: &writer)
        output = writer.bytes
        return 0
    }
}

private func write(words all: [StaticString], to writer: inout ByteWriter) {
    for words in all { write(words.withUTF8Buffer { Array($0) }, to: &writer) }
}
