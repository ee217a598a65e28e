// SPDX-License-Identifier: Apache-2.0

/// Hides the length of what is sealed: steps of 256 bytes up to 4 KiB, then of an eighth of the power of two below.
///
/// Padded form: content, 0x80, zeros up to the step.
package enum Padding {
    /// The length of the padded form of `count` bytes.
    static func paddedCount(_ count: Int) -> Int {
        let least = count + 1
        let step = least <= 4096 ? 256 : 1 << (Int.bitWidth - (least - 1).leadingZeroBitCount - 1 - 3)
        return (least + step - 1) / step * step
    }

    package static func pad(_ content: [UInt8]) -> [UInt8] {
        let zeros = paddedCount(content.count) - content.count - 1
        return content + [0x80] + [UInt8](repeating: 0, count: zeros)
    }

    /// The content; nil unless `padded` is what ``pad(_:)`` makes of it.
    package static func unpad(_ padded: [UInt8]) -> ArraySlice<UInt8>? {
        guard let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 0x80,
            paddedCount(end) == padded.count
        else { return nil }
        return padded[..<end]
    }
}
