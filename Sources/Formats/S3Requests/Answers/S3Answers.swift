// SPDX-License-Identifier: Apache-2.0

/// What a store says when it refuses. Its words for people are not read: they may repeat parts of the request.
package struct S3ErrorAnswer: Hashable, Sendable {
    /// Its code, such as `NoSuchKey`: 1 to 64 letters and digits.
    package let code: String

    /// Reads the document `Error`. Elements beside the code are passed over.
    ///
    /// Spec: Amazon S3 API Reference, "Error responses".
    ///
    /// - Throws: ``S3AnswerError``.
    package init(_ bytes: [UInt8]) throws(S3AnswerError) {
        let root = try AnswerReader.read(bytes)
        guard root.name == "Error", let code = root.text(of: "Code"), Self.isCode(code) else { throw .unexpected }
        self.code = code
    }

    private static func isCode(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) || (0x30...0x39).contains($0)
            }
    }
}

/// One page of the names in a bucket.
package struct S3Listing: Hashable, Sendable {
    package let keys: [String]
    /// What to ask for the next page with; nil for the last.
    package let continuationToken: String?

    /// How many bytes a token has at most.
    package static let maximumTokenByteCount = 4096

    /// Reads the document `ListBucketResult`. Elements that are not asked for are passed over.
    ///
    /// Spec: Amazon S3 API Reference, `ListObjectsV2`, response syntax.
    ///
    /// - Throws: ``S3AnswerError``.
    package init(_ bytes: [UInt8]) throws(S3AnswerError) {
        let root = try AnswerReader.read(bytes)
        guard root.name == "ListBucketResult", let more = root.text(of: "IsTruncated"),
            more == "true" || more == "false"
        else { throw .unexpected }
        var keys: [String] = []
        for entry in root.children where entry.name == "Contents" {
            guard let key = entry.text(of: "Key"), !key.isEmpty else { throw .unexpected }
            keys.append(key)
        }
        let token = root.text(of: "NextContinuationToken")
        guard more == "false" || (1...Self.maximumTokenByteCount).contains(token?.utf8.count ?? 0) else {
            throw .unexpected
        }
        self.keys = keys
        continuationToken = more == "true" ? token : nil
    }
}
