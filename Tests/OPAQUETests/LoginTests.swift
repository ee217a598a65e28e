// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import Crypto
    import Testing

    @testable import OPAQUE

    /// A registration and logins in which one thing is wrong.
    struct LoginTests {
        let keys: LoginServerKeys
        let parameters: LoginParameters
        let record: RegistrationRecord
        let exportKey: SymmetricKey
        let password = Array("correct horse".utf8)
        let account = Array("account-1".utf8)

        init() throws {
            let keys = try LoginServerKeys.generate()
            let parameters = try LoginParameters(
                context: [1], serverIdentity: Array("host".utf8), clientIdentity: Array("account-1".utf8))
            let (password, account) = (Array("correct horse".utf8), Array("account-1".utf8))
            let client = try ClientRegistration(password: password.span)
            let registered = try client.finish(
                keys.respond(to: client.request, credential: account), password: password.span,
                parameters: parameters, stretching: .identity)
            self.keys = keys
            self.parameters = parameters
            record = registered.record
            exportKey = registered.exportKey
        }

        private func start(_ password: [UInt8]? = nil) throws -> ClientLogin {
            let password = password ?? self.password
            return try ClientLogin(password: password.span)
        }

        private func answer(
            _ request: LoginRequest, record: RegistrationRecord?, credential: [UInt8]? = nil,
            keys: LoginServerKeys? = nil, parameters: LoginParameters? = nil
        ) throws -> ServerLogin {
            try ServerLogin(
                request, record: record, credential: credential ?? account, keys: keys ?? self.keys,
                parameters: parameters ?? self.parameters)
        }

        private func finish(
            _ client: ClientLogin, _ response: LoginResponse, password: [UInt8]? = nil,
            parameters: LoginParameters? = nil, stretching: KeyStretching = .identity
        ) throws -> ClientLogin.Outcome {
            let password = password ?? self.password
            return try client.finish(
                response, password: password.span, parameters: parameters ?? self.parameters, stretching: stretching)
        }

        @Test func twoLoginsShareTheExportKeyAndNotTheSessionKey() throws {
            var sessions: [SymmetricKey] = []
            for _ in 0..<2 {
                let client = try start()
                let server = try answer(client.request, record: record)
                let outcome = try finish(client, server.response)
                #expect(outcome.exportKey == exportKey)
                #expect(try server.finish(outcome.proof) == outcome.sessionKey)
                sessions.append(outcome.sessionKey)
            }
            #expect(sessions[0] != sessions[1])
        }

        @Test func aWrongPasswordAndAnUnknownAccountFailAlike() throws {
            let wrong = try start(Array("wrong".utf8))
            #expect(throws: OPAQUEError.notOpened) {
                try finish(wrong, answer(wrong.request, record: record).response, password: Array("wrong".utf8))
            }
            let unknown = try start()
            let response = try answer(unknown.request, record: nil).response
            #expect(throws: OPAQUEError.notOpened) { try finish(unknown, response) }
            #expect(response.encoded.count == LoginResponse.byteCount)
        }

        @Test func anUnknownAccountIsEvaluatedUnderTheSameKeyEachTime() throws {
            let client = try start()
            let answers = try (0..<2).map { _ in try answer(client.request, record: nil).response.credential }
            #expect(answers[0].evaluated == answers[1].evaluated)
            #expect(answers[0].masked != answers[1].masked)
            let known = try answer(client.request, record: record).response.credential
            #expect(known.evaluated == answers[0].evaluated)
            let other = try answer(client.request, record: nil, credential: [9]).response.credential
            #expect(other.evaluated != answers[0].evaluated)
        }

        @Test func anotherCredentialIdentifierOpensNothing() throws {
            let client = try start()
            let response = try answer(client.request, record: record, credential: Array("account-2".utf8)).response
            #expect(throws: OPAQUEError.notOpened) { try finish(client, response) }
        }

        @Test func anotherIdentityOrStretchingOpensNothing() throws {
            let client = try start()
            let response = try answer(client.request, record: record).response
            for other in [
                try LoginParameters(context: [1], serverIdentity: [1], clientIdentity: parameters.clientIdentity),
                try LoginParameters(context: [1], serverIdentity: parameters.serverIdentity, clientIdentity: [1]),
                try LoginParameters(context: [1]),
            ] {
                #expect(throws: OPAQUEError.notOpened) { try finish(client, response, parameters: other) }
            }
            #expect(throws: OPAQUEError.notOpened) { try finish(client, response, stretching: .standard) }
        }

        @Test func anotherContextIsAnUnauthenticServer() throws {
            let client = try start()
            let other = try LoginParameters(
                context: [2], serverIdentity: parameters.serverIdentity, clientIdentity: parameters.clientIdentity)
            let response = try answer(client.request, record: record, parameters: other).response
            #expect(throws: OPAQUEError.serverNotAuthentic) { try finish(client, response) }
        }

        /// Who stole record and OPRF seed, but not the private key, cannot pass for the server.
        @Test func login_refusesAServerWithoutThePrivateKey() throws {
            let thief = try keys.withEncoded { bytes throws in
                try LoginServerKeys.generate().withEncoded { other throws in
                    let seed = (0..<64).map { bytes[$0] } + (64..<96).map { other[$0] }
                    return try LoginServerKeys(decoding: seed.span)
                }
            }
            let client = try start()
            #expect(throws: OPAQUEError.notOpened) {
                try finish(client, answer(client.request, record: record, keys: thief).response)
            }
        }

        @Test func aChangedMACNonceOrKeyShareIsAnUnauthenticServer() throws {
            let client = try start()
            let good = try answer(client.request, record: record).response
            let share = try answer(client.request, record: record).response.keyShare
            let (nonce, mac) = (good.nonce.map { $0 ^ 1 }, good.mac.map { $0 ^ 1 })
            for other in [
                LoginResponse(credential: good.credential, nonce: nonce, keyShare: good.keyShare, mac: good.mac),
                LoginResponse(credential: good.credential, nonce: good.nonce, keyShare: share, mac: good.mac),
                LoginResponse(credential: good.credential, nonce: good.nonce, keyShare: good.keyShare, mac: mac),
            ] {
                #expect(throws: OPAQUEError.serverNotAuthentic) { try finish(client, other) }
            }
        }

        @Test func aProofOfAnotherLoginIsRefused() throws {
            let (first, second) = (try start(), try start())
            let servers = (
                try answer(first.request, record: record), try answer(second.request, record: record)
            )
            let proof = try finish(first, servers.0.response).proof
            #expect(throws: OPAQUEError.clientNotAuthentic) { try servers.1.finish(proof) }
            var bytes = proof.encoded
            bytes[0] ^= 1
            #expect(throws: OPAQUEError.clientNotAuthentic) { try servers.0.finish(LoginProof(decoding: bytes)) }
        }

        @Test func anAnswerToAnotherRequestIsRefused() throws {
            let (first, second) = (try start(), try start())
            let response = try answer(second.request, record: record).response
            #expect(throws: OPAQUEError.notOpened) { try finish(first, response) }
        }

        @Test(arguments: [KeyStretching.standard])
        func stretchedPasswordsLogIn(stretching: KeyStretching) throws {
            let client = try ClientRegistration(password: password.span)
            let (record, exportKey) = try client.finish(
                keys.respond(to: client.request, credential: account), password: password.span,
                parameters: parameters, stretching: stretching)
            let login = try start()
            let outcome = try finish(login, answer(login.request, record: record).response, stretching: stretching)
            #expect(outcome.exportKey == exportKey && exportKey != self.exportKey)
        }

        @Test func emptyAndOverlongInputIsTheCallersMistake() throws {
            #expect(throws: OPAQUEError.invalidPassword) { try start([]) }
            #expect(throws: OPAQUEError.invalidPassword) { try ClientRegistration(password: [UInt8]().span) }
            #expect(throws: OPAQUEError.invalidPassword) { try start([UInt8](repeating: 1, count: 65_536)) }
            #expect(throws: OPAQUEError.invalidParameters) { try LoginParameters(context: [], serverIdentity: []) }
            #expect(throws: OPAQUEError.invalidParameters) {
                try LoginParameters(context: [UInt8](repeating: 0, count: 65_536))
            }
        }

        @Test func theServersKeysAreReadAndWritten() throws {
            let copy = try keys.withEncoded { bytes throws in try LoginServerKeys(decoding: bytes) }
            #expect(copy.publicKey == keys.publicKey)
            let client = try start()
            _ = try finish(client, answer(client.request, record: record, keys: copy).response)
            for bytes in [
                [], [UInt8](repeating: 1, count: 95), [UInt8](repeating: 0, count: 96),
                [UInt8](repeating: 0xFF, count: 96),
            ] {
                #expect(throws: OPAQUEError.malformed) { try LoginServerKeys(decoding: bytes.span) }
            }
        }
    }
#endif
