// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import NIOSSL
import ObjectStores
import S3Requests
import S3Stores
import Testing

@testable import PinScenarios

/// Whom the engine talks to through TLS. A request that goes to somebody else would hand over objects, and let him answer for the store.
struct S3TrustTests {
    private let folder = Folder()
    private let lab = CertificateLab(now: Date())

    private func file(of root: LabIdentity) throws -> String {
        let pem = Data(try lab.root(root)).base64EncodedString()
        try folder.write("-----BEGIN CERTIFICATE-----\n\(pem)\n-----END CERTIFICATE-----\n", at: "authorities.pem")
        return folder.path + "/authorities.pem"
    }

    /// What a gateway with a certificate of a lab's root is asked, by an engine that trusts some authorities.
    private func requestCount(
        certified name: String, by root: LabIdentity, trusting authorities: String?
    ) async throws -> Result<Int, ObjectFault> {
        let server = try LabIdentity("server")
        let certificate = try NIOSSLCertificate(
            bytes: lab.certify(server, as: .server([name]), by: root), format: .der)
        let key = try NIOSSLPrivateKey(bytes: Array(server.key.derRepresentation), format: .der)
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(certificate)], privateKey: .privateKey(key)))
        let gateway = try await PaperGateway(Lab.credentials(), tls: tls)
        var configuration = try S3Configuration(
            endpoint: S3Endpoint("https://localhost:\(gateway.port)"), bucket: "bucket", credentials: Lab.credentials())
        configuration.retry = .none
        configuration.certificateAuthorities = authorities
        configuration.now = { Lab.seconds }
        let store = try S3Objects(configuration, tagForm: .asGiven)
        var fault: ObjectFault?
        do { _ = try await store.get("a") } catch { fault = error }
        await store.close()
        let count = gateway.seen.count
        await gateway.close()
        if let fault {
            #expect(count == 0)
            return .failure(fault)
        }
        return .success(count)
    }

    @Test func anAuthorityOfTheFileIsTrusted() async throws {
        let root = try LabIdentity("root")
        let result = try await requestCount(certified: "localhost", by: root, trusting: file(of: root))
        #expect(result == .success(1))
    }

    @Test func anAuthorityThatIsNotTheSystemsIsNotTrusted() async throws {
        let result = try await requestCount(certified: "localhost", by: LabIdentity("root"), trusting: nil)
        #expect(result == .failure(.unavailable(.connection)))
    }

    @Test func anotherAuthorityThanThatOfTheFileIsNotTrusted() async throws {
        let other = try file(of: LabIdentity("other"))
        let result = try await requestCount(certified: "localhost", by: LabIdentity("root"), trusting: other)
        #expect(result == .failure(.unavailable(.connection)))
    }

    @Test func aCertificateOfAnotherNameIsNotTrusted() async throws {
        let root = try LabIdentity("root")
        let result = try await requestCount(certified: "store.example.org", by: root, trusting: file(of: root))
        #expect(result == .failure(.unavailable(.connection)))
    }
}
