// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import Crypto
    import Foundation
    import SeededRandomness
    import Testing

    @testable import OPAQUE

    /// Z9 and Z10: what one sees who watches the server's rows and messages.
    struct IndistinguishableTests {
        let keys: LoginServerKeys
        let parameters: LoginParameters

        init() throws {
            keys = try LoginServerKeys.generate()
            parameters = try LoginParameters(context: [1])
        }

        private func register(_ account: String, _ password: String) throws -> RegistrationRecord {
            let password = Array(password.utf8)
            let client = try ClientRegistration(password: password.span)
            return try client.finish(
                keys.respond(to: client.request, credential: Array(account.utf8)), password: password.span,
                parameters: parameters, stretching: .identity
            ).record
        }

        private func answer(_ account: String, _ password: String, _ record: RegistrationRecord?) throws -> ServerLogin
        {
            try ServerLogin(
                ClientLogin(password: Array(password.utf8).span).request, record: record,
                credential: Array(account.utf8), keys: keys, parameters: parameters)
        }

        /// Every eight bytes in a row.
        private func runs(_ bytes: [UInt8]) -> Set<ArraySlice<UInt8>> {
            Set(bytes.indices.dropLast(7).map { bytes[$0..<$0 + 8] })
        }

        @Test func onePasswordOfTwoPeopleGivesNoEqualBytes() throws {
            let (anna, bert) = (try register("anna", "password"), try register("bert", "password"))
            #expect(runs(anna.encoded).isDisjoint(with: runs(bert.encoded)))
            // The check sees equal bytes: of one person who registers one password twice, the masking key.
            #expect(try !runs(anna.encoded).isDisjoint(with: runs(register("anna", "password").encoded)))
        }

        /// Z3: the masking key of a record is what a thief compares a guess with. It takes the OPRF seed to make one, and the
        /// stretching that the client chose.
        @Test func aGuessIsNotConfirmedByTheRecordsAlone() throws {
            func maskingKey(_ password: String, _ keys: LoginServerKeys, _ stretching: KeyStretching) throws -> [UInt8]
            {
                let password = Array(password.utf8)
                let client = try ClientRegistration(password: password.span)
                return try client.finish(
                    keys.respond(to: client.request, credential: Array("anna".utf8)), password: password.span,
                    parameters: parameters, stretching: stretching
                ).record.maskingKey
            }
            let stolen = try maskingKey("password", keys, .standard)
            #expect(try maskingKey("password", .generate(), .standard) != stolen)
            // With the seed: only the right password, and only when stretched as it was.
            #expect(try maskingKey("password", keys, .standard) == stolen)
            #expect(try maskingKey("passwore", keys, .standard) != stolen)
            #expect(try maskingKey("password", keys, .identity) != stolen)
        }

        /// Not one value at any place of the answer tells an account that exists from one that does not.
        @Test func anAnswerForAnUnknownAccountHasTheSameForm() throws {
            let record = try register("anna", "password")
            for _ in 0..<20 {
                let known = try answer("anna", "wrong", record).response.encoded
                let unknown = try answer("nobody", "wrong", nil).response.encoded
                #expect(known.count == LoginResponse.byteCount && unknown.count == LoginResponse.byteCount)
                #expect(runs(known).isDisjoint(with: runs(unknown)))
            }
            // Two answers for one unknown account have only the evaluated element in common, if that was asked alike.
            let request = try ClientLogin(password: Array("wrong".utf8).span).request
            let twice = try (0..<2).map { _ in
                try ServerLogin(
                    request, record: nil, credential: Array("nobody".utf8), keys: keys, parameters: parameters
                ).response.encoded
            }
            #expect(twice[0].prefix(32) == twice[1].prefix(32))
            #expect(runs(Array(twice[0].dropFirst(32))).isDisjoint(with: runs(Array(twice[1].dropFirst(32)))))
        }

        /// The server refuses the proof of either alike; the client gives up before it has one.
        @Test func noProofPassesForEither() throws {
            let record = try register("anna", "password")
            for server in [try answer("anna", "wrong", record), try answer("nobody", "wrong", nil)] {
                for byte in [0, 0xFF] as [UInt8] {
                    let proof = try LoginProof(decoding: [UInt8](repeating: byte, count: 64))
                    #expect(throws: OPAQUEError.clientNotAuthentic) { try server.finish(proof) }
                }
            }
        }

        /// `SIGNET_FUZZ=1000000` sets the number of inputs for each parser.
        @Test func seededDamageNeverTrapsAParser() throws {
            let rounds = ProcessInfo.processInfo.environment["SIGNET_FUZZ"].flatMap { Int($0) } ?? 2000
            let record = try register("anna", "password")
            let login = try ClientLogin(password: Array("password".utf8).span)
            let server = try ServerLogin(
                login.request, record: record, credential: Array("anna".utf8), keys: keys, parameters: parameters)
            let registration = try ClientRegistration(password: Array("password".utf8).span)
            let response = try keys.respond(to: registration.request, credential: [1])
            let secret = keys.withEncoded { bytes in bytes.indices.map { bytes[$0] } }
            var generator = SeededGenerator(seed: 1)
            for _ in 0..<rounds {
                func check(_ good: [UInt8], _ print: ([UInt8]) throws -> [UInt8]) {
                    let mutant = generator.mutant(of: good)
                    guard let printed = try? print(mutant) else { return }
                    #expect(printed == mutant)
                }
                check(login.request.encoded) { try LoginRequest(decoding: $0).encoded }
                check(server.response.encoded) { try LoginResponse(decoding: $0).encoded }
                check(record.encoded) { try RegistrationRecord(decoding: $0).encoded }
                check(registration.request.encoded) { try RegistrationRequest(decoding: $0).encoded }
                check(response.encoded) { try RegistrationResponse(decoding: $0).encoded }
                check([UInt8](repeating: 7, count: 64)) { try LoginProof(decoding: $0).encoded }
                check(secret) {
                    try LoginServerKeys(decoding: $0.span).withEncoded { key in key.indices.map { key[$0] } }
                }
            }
        }
    }
#endif
