// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import Testing

    @testable import OPAQUE

    /// Bytes that are no message.
    struct MessageTests {
        private func good() throws -> (login: ClientLogin, server: ServerLogin, record: RegistrationRecord) {
            let keys = try LoginServerKeys.generate()
            let parameters = try LoginParameters(context: [])
            let registration = try ClientRegistration(password: [1].span)
            let (record, _) = try registration.finish(
                keys.respond(to: registration.request, credential: [1]), password: [1].span, parameters: parameters,
                stretching: .identity)
            let login = try ClientLogin(password: [1].span)
            let server = try ServerLogin(
                login.request, record: record, credential: [1], keys: keys, parameters: parameters)
            return (login, server, record)
        }

        @Test func everyMessageIsReadAndPrintedAgain() throws {
            let (login, server, record) = try good()
            #expect(try LoginRequest(decoding: login.request.encoded) == login.request)
            #expect(try LoginResponse(decoding: server.response.encoded) == server.response)
            #expect(try RegistrationRecord(decoding: record.encoded) == record)
        }

        @Test func anotherLengthIsMalformed() throws {
            let (login, server, record) = try good()
            for bytes in [Array(login.request.encoded.dropLast()), login.request.encoded + [0], []] {
                #expect(throws: OPAQUEError.malformed) { try LoginRequest(decoding: bytes) }
                #expect(throws: OPAQUEError.malformed) { try RegistrationRequest(decoding: bytes) }
                #expect(throws: OPAQUEError.malformed) { try LoginProof(decoding: bytes) }
                #expect(throws: OPAQUEError.malformed) { try RegistrationResponse(decoding: bytes) }
            }
            #expect(throws: OPAQUEError.malformed) { try LoginResponse(decoding: server.response.encoded + [0]) }
            #expect(throws: OPAQUEError.malformed) { try RegistrationRecord(decoding: record.encoded + [0]) }
        }

        /// The identity, a negative field element, one not below p, and one of no point.
        @Test(arguments: [
            [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
            [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F], [UInt8](repeating: 0xFF, count: 32),
            [0x26, 0x94, 0x8D, 0x35, 0xCA, 0x62, 0xE6, 0x43, 0xE2, 0x6A, 0x83, 0x17, 0x73, 0x32, 0xE6, 0xB6]
                + [0xAF, 0xEB, 0x9D, 0x08, 0xE4, 0x26, 0x8B, 0x65, 0x0F, 0x1F, 0x5B, 0xBD, 0x8D, 0x81, 0xD3, 0x71],
        ])
        func message_refusesBytesThatAreNotAnElement(bytes: [UInt8]) throws {
            let (login, server, record) = try good()
            #expect(throws: OPAQUEError.malformed) { try RegistrationRequest(decoding: bytes) }
            let valid = login.request.encoded.prefix(32)
            #expect(throws: OPAQUEError.malformed) { try RegistrationResponse(decoding: valid + bytes) }
            #expect(throws: OPAQUEError.malformed) { try RegistrationResponse(decoding: bytes + valid) }
            for place in [0, 64] {
                var request = login.request.encoded
                request.replaceSubrange(place..<place + 32, with: bytes)
                #expect(throws: OPAQUEError.malformed) { try LoginRequest(decoding: request) }
            }
            for place in [0, 224] {
                var response = server.response.encoded
                response.replaceSubrange(place..<place + 32, with: bytes)
                #expect(throws: OPAQUEError.malformed) { try LoginResponse(decoding: response) }
            }
            var other = record.encoded
            other.replaceSubrange(0..<32, with: bytes)
            #expect(throws: OPAQUEError.malformed) { try RegistrationRecord(decoding: other) }
        }

        @Test func everyChangedByteOfTheAnswerIsRefused() throws {
            let keys = try LoginServerKeys.generate()
            let parameters = try LoginParameters(context: [])
            let registration = try ClientRegistration(password: [1].span)
            let (record, _) = try registration.finish(
                keys.respond(to: registration.request, credential: [1]), password: [1].span, parameters: parameters,
                stretching: .identity)
            let login = try ClientLogin(password: [1].span)
            let server = try ServerLogin(
                login.request, record: record, credential: [1], keys: keys, parameters: parameters)
            for index in 0..<LoginResponse.byteCount {
                var bytes = server.response.encoded
                bytes[index] ^= 1 << UInt8(index % 8)
                #expect(throws: OPAQUEError.self, "byte \(index)") {
                    try login.finish(
                        LoginResponse(decoding: bytes), password: [1].span, parameters: parameters,
                        stretching: .identity)
                }
            }
        }
    }
#endif
