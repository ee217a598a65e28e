// SPDX-License-Identifier: Apache-2.0

internal import CivilTime
import Crypto

/// AWS Signature Version 4 of one request, in the form of a header.
///
/// Spec: Amazon S3 API Reference, "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)".
package struct S3Signature: Sendable {
    /// The text whose hash is signed: the request with its headers in order.
    package let canonicalRequest: String
    /// The text that is signed.
    package let stringToSign: String
    /// 64 hexadecimal digits.
    package let signature: String
    /// All headers that the request is sent with, `authorization` last.
    package let headers: [S3Header]

    /// Signs a request.
    ///
    /// - Parameters:
    ///   - host: the host, with the port if it is not that of the scheme, as in the header `host`.
    ///   - region: such as `us-east-1`.
    ///   - seconds: the time, since 1970-01-01T00:00:00Z. Stores refuse one that differs from theirs by more than 15 minutes.
    package init(
        _ request: S3Request, host: String, credentials: S3Credentials, region: String, secondsSince1970 seconds: UInt64
    ) {
        let time = Self.text(of: UTCTime(secondsSince1970: seconds))
        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let sent = Self.sent(with: request, host: host, time: time, credentials.sessionToken)
        let names = sent.map(\.name).joined(separator: ";")
        canonicalRequest = Self.canonical(request, sent, names)
        let hash = hexadecimal(SHA256.hash(data: Array(canonicalRequest.utf8)))
        stringToSign = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(hash)"
        let key = Self.key(from: credentials.firstKey, [day, region, "s3", "aws4_request"])
        signature = hexadecimal(Self.code(stringToSign, key))
        let credential = "Credential=\(credentials.accessKey)/\(scope)"
        let value = "AWS4-HMAC-SHA256 \(credential),SignedHeaders=\(names),Signature=\(signature)"
        headers = sent + [S3Header("authorization", value)]
    }

    private static func sent(
        with request: S3Request, host: String, time: String, _ token: String?
    ) -> [S3Header] {
        var sent =
            request.headers + [
                S3Header("host", host), S3Header("x-amz-content-sha256", request.payloadHash),
                S3Header("x-amz-date", time),
            ]
        if let token { sent.append(S3Header("x-amz-security-token", token)) }
        return sent.sorted { $0.name < $1.name }
    }

    private static func canonical(_ request: S3Request, _ sent: [S3Header], _ names: String) -> String {
        let lines = sent.map { "\($0.name):\(trimmed($0.value))\n" }.joined()
        let parts = [request.method.rawValue, request.path, request.query, lines, names, request.payloadHash]
        return parts.joined(separator: "\n")
    }

    /// Without spaces at its ends, and with one where there are several.
    private static func trimmed(_ value: String) -> String {
        value.split(separator: " ").joined(separator: " ")
    }

    private static func key(from first: SymmetricKey, _ parts: [String]) -> SymmetricKey {
        parts.reduce(first) { SymmetricKey(data: code($1, $0)) }
    }

    private static func code(_ text: String, _ key: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
    }

    /// As in `20130524T000000Z`.
    private static func text(of time: UTCTime) -> String { time.text.filter { $0 != "-" && $0 != ":" } }
}
