// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import Crypto
    import Testing

    @testable import OPAQUE

    @Suite(.enabled(if: OPAQUEVector.isPresent, "the folder shared/vectors is not beside the package"))
    struct VectorTests {
        private func parameters(_ vector: OPAQUEVector) throws -> LoginParameters {
            try LoginParameters(
                context: vector.context, serverIdentity: vector.optional("server_identity"),
                clientIdentity: vector.optional("client_identity"))
        }

        private func keys(_ vector: OPAQUEVector) throws -> LoginServerKeys {
            try LoginServerKeys(decoding: (vector.input("oprf_seed") + vector.input("server_private_key")).span)
        }

        @Test func everyRegistrationGivesTheMessagesRecordAndExportKeyOfTheRFC() throws {
            let vectors = try OPAQUEVector.load(fake: false)
            #expect(vectors.count == 2)
            for vector in vectors {
                let (password, keys) = (try vector.input("password"), try keys(vector))
                #expect(keys.publicKey == (try vector.input("server_public_key")))
                let blind = try vector.input("blind_registration")
                let client = try ClientRegistration(password: password.span, blindBytes: blind.span)
                #expect(client.request.encoded == (try vector.output("registration_request")))
                let request = try RegistrationRequest(decoding: client.request.encoded)
                let response = try keys.respond(to: request, credential: vector.input("credential_identifier"))
                #expect(response.encoded == (try vector.output("registration_response")))
                let (record, exportKey) = try client.finish(
                    RegistrationResponse(decoding: response.encoded), password: password.span,
                    parameters: parameters(vector), stretching: .identity,
                    envelopeNonce: vector.input("envelope_nonce"))
                #expect(record.encoded == (try vector.output("registration_upload")))
                #expect(exportKey == SymmetricKey(data: try vector.output("export_key")))
                #expect(try RegistrationRecord(decoding: record.encoded) == record)
            }
        }

        @Test func everyLoginGivesTheMessagesAndKeysOfTheRFC() throws {
            for vector in try OPAQUEVector.load(fake: false) {
                let (password, keys) = (try vector.input("password"), try keys(vector))
                let (blind, nonce) = (try vector.input("blind_login"), try vector.input("client_nonce"))
                let client = try ClientLogin(
                    password: password.span, blindBytes: blind.span, nonce: nonce,
                    keyShareSeed: SymmetricKey(data: vector.input("client_keyshare_seed")))
                #expect(client.request.encoded == (try vector.output("KE1")))
                let server = try ServerLogin(
                    LoginRequest(decoding: client.request.encoded),
                    record: RegistrationRecord(decoding: vector.output("registration_upload")),
                    credential: vector.input("credential_identifier"), keys: keys, parameters: parameters(vector),
                    maskingNonce: vector.input("masking_nonce"), nonce: vector.input("server_nonce"),
                    keyShareSeed: SymmetricKey(data: vector.input("server_keyshare_seed")))
                #expect(server.response.encoded == (try vector.output("KE2")))
                let outcome = try client.finish(
                    LoginResponse(decoding: server.response.encoded), password: password.span,
                    parameters: parameters(vector), stretching: .identity)
                #expect(outcome.proof.encoded == (try vector.output("KE3")))
                #expect(outcome.exportKey == SymmetricKey(data: try vector.output("export_key")))
                #expect(outcome.sessionKey == SymmetricKey(data: try vector.output("session_key")))
                #expect(outcome.serverPublicKey == keys.publicKey)
                #expect(try server.finish(LoginProof(decoding: outcome.proof.encoded)) == outcome.sessionKey)
            }
        }

        @Test func theFakeRecordGivesTheAnswerOfTheRFC() throws {
            let vectors = try OPAQUEVector.load(fake: true)
            #expect(vectors.count == 1)
            for vector in vectors {
                let record = try RegistrationRecord(
                    decoding: vector.input("client_public_key") + vector.input("masking_key")
                        + [UInt8](repeating: 0, count: 96))
                let server = try ServerLogin(
                    LoginRequest(decoding: vector.input("KE1")), record: record,
                    credential: vector.input("credential_identifier"), keys: keys(vector),
                    parameters: parameters(vector), maskingNonce: vector.input("masking_nonce"),
                    nonce: vector.input("server_nonce"),
                    keyShareSeed: SymmetricKey(data: vector.input("server_keyshare_seed")))
                #expect(server.response.encoded == (try vector.output("KE2")))
            }
        }
    }
#endif
