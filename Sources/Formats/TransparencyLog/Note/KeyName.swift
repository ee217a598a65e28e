// SPDX-License-Identifier: Apache-2.0

/// The name of a key that signs notes, and the origin of a log: UTF-8 without spaces, controls or plus.
///
/// Two names are equal only when their bytes are: names that look alike in another Unicode normal form
/// are other names.
///
/// Spec: C2SP signed-note, "Format".
public struct KeyName: Hashable, Sendable {
    /// The UTF-8 bytes.
    public let bytes: [UInt8]

    /// The name with these bytes.
    ///
    /// - Throws: ``NoteError``: empty, not UTF-8, or a character that a name cannot have.
    public init(_ bytes: some Sequence<UInt8>) throws(NoteError) {
        let bytes = Array(bytes)
        guard !bytes.isEmpty else { throw .keyNameEmpty }
        var offset = 0
        while offset < bytes.count {
            let start = offset
            let scalar = try UnicodeText.scalar(in: bytes.span, at: &offset)
            guard scalar >= 0x20 && scalar != 0x2B && !UnicodeText.isSpace(scalar) else {
                throw .forbiddenInKeyName(offset: start)
            }
        }
        self.bytes = bytes
    }
}
