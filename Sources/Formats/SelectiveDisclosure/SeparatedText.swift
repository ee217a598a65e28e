// SPDX-License-Identifier: Apache-2.0

/// An SD-JWT taken apart at its tildes; nothing is decoded or verified.
///
/// Spec: RFC 9901, section 4.
struct SeparatedText {
    /// More bytes are refused unread.
    static let maximumByteCount = 131_072

    let issuerToken: [UInt8]
    let disclosures: [[UInt8]]
    /// Nil when the text ends with a tilde.
    let keyBinding: [UInt8]?
    /// Everything up to the last tilde, which belongs to it: what the holder's signature is bound to.
    let boundText: [UInt8]

    init(_ text: [UInt8]) throws(PresentationFault) {
        guard text.count <= Self.maximumByteCount else { throw .limits }
        guard text.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .form }
        let tilde = UInt8(ascii: "~")
        guard let end = text.lastIndex(of: tilde) else { throw .form }
        let parts = text[..<end].split(separator: tilde, omittingEmptySubsequences: false).map { Array($0) }
        guard parts.allSatisfy({ !$0.isEmpty }) else { throw .form }
        issuerToken = parts[0]
        disclosures = Array(parts.dropFirst())
        boundText = Array(text[...end])
        keyBinding = end == text.count - 1 ? nil : Array(text[(end + 1)...])
    }
}
