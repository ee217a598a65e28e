// SPDX-License-Identifier: Apache-2.0

/// Reads the QR code in a picture that the user chose.
public protocol PictureReader: Sendable {
    /// The bytes in the one code of a picture.
    ///
    /// - Parameter picture: PNG or JPEG.
    /// - Throws: ``PictureRefusal``.
    func code(in picture: [UInt8]) throws(PictureRefusal) -> [UInt8]
}

/// Why there is nothing to be read.
public struct PictureRefusal: Error, Hashable, Sendable {
    /// What the user is told.
    public let advice: Advice

    /// A refusal in words.
    public init(_ advice: Advice) { self.advice = advice }
}
