// SPDX-License-Identifier: Apache-2.0

import Foundation
import S3Requests
import Testing

/// Amazon's four published examples: Amazon S3 API Reference, "Authenticating Requests: Using the Authorization Header (AWS Signature
/// Version 4)", section "Examples: Signature Calculations".
struct PublishedSignatureTests {
    private let host = "examplebucket.s3.amazonaws.com"
    /// 2013-05-24T00:00:00Z.
    private let seconds: UInt64 = 1_369_353_600

    private func sign(_ request: S3Request) throws -> S3Signature {
        let credentials = try #require(
            S3Credentials(accessKey: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))
        return S3Signature(
            request, host: host, credentials: credentials, region: "us-east-1", secondsSince1970: seconds)
    }

    @Test func theExampleThatGetsAnObject() throws {
        let signed = try sign(S3Request(.get, path: "/test.txt", headers: [S3Header("Range", "bytes=0-9")]))
        #expect(
            signed.canonicalRequest == """
                GET
                /test.txt

                host:examplebucket.s3.amazonaws.com
                range:bytes=0-9
                x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                x-amz-date:20130524T000000Z

                host;range;x-amz-content-sha256;x-amz-date
                e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                """)
        #expect(
            signed.stringToSign == """
                AWS4-HMAC-SHA256
                20130524T000000Z
                20130524/us-east-1/s3/aws4_request
                7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972
                """)
        #expect(signed.signature == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        #expect(
            signed.headers.last?.value == """
                AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
                SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
                Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41
                """)
    }

    @Test func theExampleThatPutsAnObject() throws {
        let headers = [
            S3Header("Date", "Fri, 24 May 2013 00:00:00 GMT"), S3Header("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ]
        let signed = try sign(
            S3Request(.put, path: "/test$file.text", headers: headers, payload: Array("Welcome to Amazon S3.".utf8)))
        #expect(signed.stringToSign.hasSuffix("9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d"))
        #expect(signed.signature == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func theExampleThatGetsALifecycle() throws {
        let signed = try sign(S3Request(.get, path: "/", query: [("lifecycle", "")]))
        #expect(signed.signature == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    }

    @Test func theExampleThatListsObjects() throws {
        let signed = try sign(S3Request(.get, path: "/", query: [("prefix", "J"), ("max-keys", "2")]))
        #expect(signed.stringToSign.hasSuffix("df57d21db20da04d7fa30298dd4488ba3a2b47ca3a489c74750e0f1e7df1b9b7"))
        #expect(signed.signature == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }
}

/// The signatures that botocore gives odd requests: `Vectors/s3/signatures.json`.
struct PeerSignatureTests {
    private struct File: Decodable { let cases: [Case] }
    private struct Case: Decodable {
        let method, path: String
        let query, headers: [[String]]
        let payload, host, region: String
        let seconds: UInt64
        let accessKey, secret, token, signature, signedHeaders: String

        func signed() throws -> S3Signature {
            let credentials = try #require(
                S3Credentials(accessKey: accessKey, secret: secret, sessionToken: token.isEmpty ? nil : token))
            let request = S3Request(
                try #require(S3Request.Method(rawValue: method)), path: path,
                query: query.map { ($0[0], $0[1]) }, headers: headers.map { S3Header($0[0], $0[1]) },
                payload: Array(payload.utf8))
            return S3Signature(
                request, host: host, credentials: credentials, region: region, secondsSince1970: seconds)
        }
    }

    @Test func botocoreSignsOddRequestsInTheSameWay() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Vectors/s3/signatures.json")
        let cases = try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).cases
        #expect(cases.count == 120)
        for each in cases {
            let signed = try each.signed()
            #expect(signed.signature == each.signature, "\(each.method) \(each.path)")
            #expect(signed.headers.last?.value.contains("SignedHeaders=\(each.signedHeaders),") == true)
        }
    }
}

/// What the signature covers, and what nobody may see.
struct SignedRequestTests {
    private let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

    private func signature(
        _ request: S3Request, host: String = "store", region: String = "r", at seconds: UInt64 = 1
    ) throws -> String {
        let credentials = try #require(S3Credentials(accessKey: "KEY", secret: secret))
        return S3Signature(request, host: host, credentials: credentials, region: region, secondsSince1970: seconds)
            .signature
    }

    /// Somebody on the way who takes the condition off a write would turn a late one into an overwriting one.
    @Test func everyPartOfARequestIsSigned() throws {
        func request(
            _ method: S3Request.Method = .put, _ path: String = "/b/p", _ query: [(String, String)] = [("a", "b")],
            _ headers: [S3Header] = [S3Header("if-match", "\"1\"")], _ payload: [UInt8] = [1]
        ) -> S3Request {
            S3Request(method, path: path, query: query, headers: headers, payload: payload)
        }
        let all = try [
            signature(request()), signature(request(.get)), signature(request(.put, "/b/q")),
            signature(request(.put, "/b/p", [("a", "c")])), signature(request(.put, "/b/p", [])),
            signature(request(.put, "/b/p", [("a", "b")], [])),
            signature(request(.put, "/b/p", [("a", "b")], [S3Header("if-match", "\"2\"")])),
            signature(request(.put, "/b/p", [("a", "b")], [S3Header("if-none-match", "\"1\"")])),
            signature(request(.put, "/b/p", [("a", "b")], [S3Header("if-match", "\"1\"")], [2])),
            signature(request(), host: "other"), signature(request(), region: "s"), signature(request(), at: 2),
        ]
        #expect(Set(all).count == all.count)
    }

    @Test func noDescriptionShowsASecret() throws {
        let credentials = try #require(
            S3Credentials(accessKey: "KEY", secret: secret, sessionToken: "TOKEN-OF-A-SESSION"))
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in [
            "\(credentials)", String(reflecting: credentials), dumped, "\([credentials])",
            "\(Optional(credentials) as Any)",
        ] {
            #expect(!text.contains(secret) && !text.contains("TOKEN-OF-A-SESSION"))
        }
    }

    @Test func theSecretIsInNoHeader() throws {
        let credentials = try #require(S3Credentials(accessKey: "KEY", secret: secret))
        let signed = S3Signature(
            S3Request(.get, path: "/b"), host: "h", credentials: credentials, region: "r", secondsSince1970: 1)
        #expect(!signed.headers.contains { $0.value.contains(secret) })
    }

    @Test(
        arguments: [
            ("", "secret", nil), ("KEY", "", nil), ("KEY", "with space", nil), ("KEY\n", "secret", nil),
            ("KEY", "line\n", nil),
            ("K,Y", "secret", nil), ("K/Y", "secret", nil), ("KEY", "secret", ""), ("KEY", "secret", "a\r\nx-amz-a: b"),
            (String(repeating: "K", count: 129), "secret", nil), ("KEY", String(repeating: "s", count: 257), nil),
        ] as [(String, String, String?)])
    func credentialsThatWouldBreakAHeaderAreRefused(key: String, secret: String, token: String?) {
        #expect(S3Credentials(accessKey: key, secret: secret, sessionToken: token) == nil)
    }

    @Test func namesAreEncodedByteByByte() {
        let request = S3Request(.get, path: "/b/ +%~ä/*", query: [("z", "a b"), ("a/", "+")])
        #expect(request.path == "/b/%20%2B%25~%C3%A4/%2A")
        #expect(request.query == "a%2F=%2B&z=a%20b")
    }
}
