// SPDX-License-Identifier: Apache-2.0

package import ObjectStores
package import S3Requests

/// Which bucket of which store, as whom, and how long to wait for it.
package struct S3Configuration: Sendable {
    package let endpoint: S3Endpoint
    package let region: String
    package let bucket: String
    /// What stands in front of every path: empty, or ending in a slash.
    package let prefix: String
    package let credentials: S3Credentials
    /// A file of certificates in PEM, which are trusted instead of the system's; nil for the system's.
    package var certificateAuthorities: String?
    /// How long one request may take, until its last byte.
    package var deadline: Duration = .seconds(10)
    /// How large an object may be, in bytes.
    package var maximumByteCount = 64 << 20
    /// How often something is asked that can be asked again without harm.
    package var retry = ObjectRetry.standard
    /// The time that requests are signed with, in seconds since 1970-01-01T00:00:00Z.
    package var now: @Sendable () -> UInt64 = systemSeconds

    /// - Throws: ``S3ConfigurationError``.
    package init(
        endpoint: S3Endpoint, region: String = "us-east-1", bucket: String, prefix: String = "",
        credentials: S3Credentials
    ) throws(S3ConfigurationError) {
        guard (3...63).contains(bucket.utf8.count), Self.isName(bucket, with: "-."), bucket.first != ".",
            bucket.first != "-", !bucket.contains("..")
        else { throw .bucket }
        guard (1...64).contains(region.utf8.count), Self.isName(region, with: "-") else { throw .region }
        let isPrefix =
            prefix.utf8.count <= 100 && prefix.hasSuffix("/") && ObjectPath.isValid(String(prefix.dropLast()))
        guard prefix.isEmpty || isPrefix else { throw .prefix }
        (self.endpoint, self.region, self.bucket, self.prefix) = (endpoint, region, bucket, prefix)
        self.credentials = credentials
    }

    private static func isName(_ text: String, with others: String) -> Bool {
        text.utf8.allSatisfy { byte in
            (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || others.utf8.contains(byte)
        }
    }
}
