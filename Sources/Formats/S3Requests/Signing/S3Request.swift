// SPDX-License-Identifier: Apache-2.0

import Crypto

/// One header of a request.
package struct S3Header: Hashable, Sendable {
    /// In small letters.
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name.lowercased(), value) }
}

/// A request to a store that speaks S3, before it is signed.
package struct S3Request: Hashable, Sendable {
    /// What is asked for.
    package enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case put = "PUT"
        case delete = "DELETE"
        case head = "HEAD"
    }

    package let method: Method
    /// The path, encoded, with a slash in front.
    package let path: String
    /// The query, encoded and in the order of its encoded names, without a question mark; empty if there is none.
    package let query: String
    /// Headers beside those that signing adds. All of them are signed: whoever takes a condition out of a request on its way breaks it.
    package let headers: [S3Header]
    package let payload: [UInt8]

    /// - Parameters:
    ///   - path: as it is called, without any encoding; a slash in front.
    ///   - query: names and values, without any encoding.
    package init(
        _ method: Method, path: String, query: [(name: String, value: String)] = [], headers: [S3Header] = [],
        payload: [UInt8] = []
    ) {
        self.method = method
        self.path = PercentEncoding.path(path)
        let pairs = query.map { (PercentEncoding.component($0.name), PercentEncoding.component($0.value)) }
        self.query = pairs.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
        self.headers = headers
        self.payload = payload
    }

    /// The SHA-256 of the payload in hexadecimal digits, which the signature covers.
    var payloadHash: String { hexadecimal(SHA256.hash(data: payload)) }
}

/// Bytes as small hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
