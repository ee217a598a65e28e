// SPDX-License-Identifier: Apache-2.0

import Foundation
import S3Requests
import S3Stores
import Testing

/// Which stores are asked, and as whom.
struct S3ConfigurationTests {
    private let folder = Folder()

    @Test(arguments: [
        ("https://s3.example.org", "s3.example.org"), ("https://s3.example.org:443", "s3.example.org"),
        ("https://s3.example.org:8443", "s3.example.org:8443"), ("https://[2001:db8::1]:9000", "[2001:db8::1]:9000"),
        ("https://[2001:db8::1]", "[2001:db8::1]"), ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://[::1]", "[::1]"), ("http://localhost:80", "localhost"), ("http://127.1.2.3:443", "127.1.2.3:443"),
    ])
    func anEndpointIsASchemeAHostAndAPort(text: String, authority: String) throws {
        let endpoint = try S3Endpoint(text)
        #expect(endpoint.authority == authority)
        #expect(endpoint.isSecure == text.hasPrefix("https"))
    }

    @Test(arguments: [
        "", "s3.example.org", "ftp://s3.example.org", "https://", "https://:443", "https://a/", "https://a/bucket",
        "https://a?b", "https://a#b", "https://user:secret@a", "https://a:0", "https://a:65536", "https://a:+1",
        "https://a:",
        "https://a b", "https://.a", "https://-a", "https://[::1", "https://[a]b", "https://a\r\nb", "HTTPS://a",
        "https://ä",
    ])
    func nothingElseIsAnEndpoint(text: String) {
        #expect(throws: S3ConfigurationError.endpoint) { try S3Endpoint(text) }
    }

    /// A name that only looks like loopback is another machine.
    @Test(arguments: [
        "http://s3.example.org", "http://127.0.0.1.example.org", "http://127.example.org",
        "http://localhost.example.org",
        "http://10.0.0.1", "http://127.0.0.256", "http://[::2]", "http://128.0.0.1",
    ])
    func plainHTTPGoesToNoOtherMachineUnlessThatIsAllowed(text: String) throws {
        #expect(throws: S3ConfigurationError.plainHTTP) { try S3Endpoint(text) }
        #expect(try !S3Endpoint(text, allowsPlainHTTP: true).isSecure)
    }

    @Test func bucketsRegionsAndPrefixesHaveTheirForms() throws {
        let endpoint = try S3Endpoint("https://a")
        let credentials = try #require(S3Credentials(accessKey: "K", secret: "s"))
        func make(_ bucket: String = "bucket", _ region: String = "us-east-1", _ prefix: String = "") throws {
            _ = try S3Configuration(
                endpoint: endpoint, region: region, bucket: bucket, prefix: prefix, credentials: credentials)
        }
        try make("a.b-c0")
        try make("bucket", "eu-central-1", "logs/2026/")
        for bucket in ["", "ab", "UPPER", "a/b", "a..b", "-ab", ".ab", "a b", String(repeating: "a", count: 64)] {
            #expect(throws: S3ConfigurationError.bucket) { try make(bucket) }
        }
        for region in ["", "US", "a/b", "a\nb"] {
            #expect(throws: S3ConfigurationError.region) { try make("bucket", region) }
        }
        let long = String(repeating: "a", count: 100) + "/"
        for prefix in ["a", "/", "/a/", "a//", "../", ".a/", "ä/", long] {
            #expect(throws: S3ConfigurationError.prefix) { try make("bucket", "r", prefix) }
        }
    }

    @Test func credentialsComeFromTheEnvironment() throws {
        let credentials = try S3Credentials(environment: [
            "AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token", "HOME": "/",
        ])
        #expect(credentials.accessKey == "KEY" && credentials.sessionToken == "token")
        #expect(throws: S3ConfigurationError.credentials) {
            try S3Credentials(environment: ["AWS_ACCESS_KEY_ID": "KEY"])
        }
    }

    private func file(_ text: String, permissions: Int = 0o600) throws -> String {
        try folder.write(text, at: "credentials")
        let path = folder.path + "/credentials"
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
        return path
    }

    @Test func credentialsComeFromAFile() throws {
        let text = "# of the store\n[default]\naws_access_key_id = KEY\naws_secret_access_key=a=b\n"
        let credentials = try S3Credentials(file: file(text))
        #expect(credentials.accessKey == "KEY" && credentials.sessionToken == nil)
    }

    @Test(arguments: [
        "", "aws_access_key_id = KEY\n", "aws_access_key_id = KEY\naws_secret_access_key\n",
        "aws_access_key_id = KEY\naws_secret_access_key =\n", "words\n",
        "aws_access_key_id = KEY\naws_access_key_id = OTHER\naws_secret_access_key = s\n",
    ])
    func aFileWithoutCredentialsIsRefused(text: String) throws {
        let path = try file(text)
        #expect(throws: S3ConfigurationError.credentials) { try S3Credentials(file: path) }
    }

    @Test func aFileThatOthersCanReadIsRefused() throws {
        let path = try file("aws_access_key_id = KEY\naws_secret_access_key = s\n", permissions: 0o640)
        #expect(throws: S3ConfigurationError.credentialsOpenToOthers) { try S3Credentials(file: path) }
        #expect(throws: S3ConfigurationError.credentials) { try S3Credentials(file: folder.path + "/none") }
        #expect(throws: S3ConfigurationError.credentials) { try S3Credentials(file: folder.path) }
    }

    @Test func authoritiesThatCannotBeReadAreRefused() throws {
        let credentials = try #require(S3Credentials(accessKey: "K", secret: "s"))
        var configuration = try S3Configuration(
            endpoint: S3Endpoint("https://a"), bucket: "bucket", credentials: credentials)
        for path in [folder.path + "/none", try file("words")] {
            configuration.certificateAuthorities = path
            let configuration = configuration
            #expect(throws: S3ConfigurationError.certificateAuthorities) {
                try S3Objects(configuration, tagForm: .asGiven)
            }
        }
    }
}
