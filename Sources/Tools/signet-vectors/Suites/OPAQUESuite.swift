// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Crypto
import OPAQUE

/// Registrations and logins in the schema of RFC 9807's repository.
struct OPAQUESuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "opaque",
        abstract: "OPAQUE (RFC 9807): every message and key of a registration and login with ristretto255 and 3DH.",
        discussion: "Entries of other groups are noted as not applicable.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let entries: [Entry] = try VectorFile(path).json()
        guard !entries.isEmpty else { throw .noCases(path: path) }
        for (number, entry) in entries.enumerated() {
            let name = "\(number)/\(entry.config.Group)\(entry.isFake ? "/fake" : "")"
            guard entry.isApplicable else {
                report.remark("\(name): not applicable, this is OPAQUE-3DH with ristretto255-SHA512 and no stretching")
                continue
            }
            #if canImport(CSodium)
                entry.check(name, &report)
            #else
                report.remark("\(name): this build has no libsodium")
            #endif
        }
    }

    struct Entry: Decodable {
        struct Config: Decodable {
            let Context: HexField
            let Fake, Group, OPRF, KSF, Name: String
        }

        let config: Config
        let inputs, outputs: [String: HexField]

        var isFake: Bool { config.Fake == "True" }

        var isApplicable: Bool {
            config.Group == "ristretto255" && config.OPRF == "ristretto255-SHA512" && config.KSF == "Identity"
                && config.Name == "3DH"
        }

        func input(_ name: String) -> [UInt8] { inputs[name]?.bytes ?? [] }
        func output(_ name: String) -> [UInt8] { outputs[name]?.bytes ?? [] }
    }
}

#if canImport(CSodium)
    extension OPAQUESuite.Entry {
        fileprivate func check(_ name: String, _ report: inout VectorReport) {
            do {
                let steps = isFake ? try fakeLogin() : try registration() + login()
                for (step, made) in steps {
                    report.add("\(name)/\(step)", failure: made == output(step) ? nil : "another value")
                }
            } catch {
                report.add(name, failure: "refused, must be accepted: \(error)")
            }
        }

        private func parameters() throws -> LoginParameters {
            try LoginParameters(
                context: config.Context.bytes, serverIdentity: inputs["server_identity"]?.bytes,
                clientIdentity: inputs["client_identity"]?.bytes)
        }

        private func keys() throws -> LoginServerKeys {
            let bytes = input("oprf_seed") + input("server_private_key")
            return try LoginServerKeys(decoding: bytes.span)
        }

        private func registration() throws -> [(String, [UInt8])] {
            let (password, blind) = (input("password"), input("blind_registration"))
            let client = try ClientRegistration(password: password.span, blindBytes: blind.span)
            let response = try keys().respond(
                to: RegistrationRequest(decoding: client.request.encoded),
                credential: input("credential_identifier"))
            let (record, exportKey) = try client.finish(
                RegistrationResponse(decoding: response.encoded), password: password.span, parameters: parameters(),
                stretching: .identity, envelopeNonce: input("envelope_nonce"))
            return [
                ("registration_request", client.request.encoded), ("registration_response", response.encoded),
                ("registration_upload", record.encoded), ("export_key", exportKey.withUnsafeBytes { Array($0) }),
            ]
        }

        private func login() throws -> [(String, [UInt8])] {
            let (password, blind) = (input("password"), input("blind_login"))
            let client = try ClientLogin(
                password: password.span, blindBytes: blind.span, nonce: input("client_nonce"),
                keyShareSeed: SymmetricKey(data: input("client_keyshare_seed")))
            let record = try RegistrationRecord(decoding: output("registration_upload"))
            let server = try respond(to: LoginRequest(decoding: client.request.encoded), record)
            let outcome = try client.finish(
                LoginResponse(decoding: server.response.encoded), password: password.span, parameters: parameters(),
                stretching: .identity)
            let sessionKey = try server.finish(LoginProof(decoding: outcome.proof.encoded))
            return [
                ("KE1", client.request.encoded), ("KE2", server.response.encoded), ("KE3", outcome.proof.encoded),
                ("session_key", sessionKey.withUnsafeBytes { Array($0) }),
                ("export_key", outcome.exportKey.withUnsafeBytes { Array($0) }),
            ]
        }

        /// The answer for an account that does not exist.
        private func fakeLogin() throws -> [(String, [UInt8])] {
            let record = try RegistrationRecord(
                decoding: input("client_public_key") + input("masking_key") + [UInt8](repeating: 0, count: 96))
            return [("KE2", try respond(to: LoginRequest(decoding: input("KE1")), record).response.encoded)]
        }

        private func respond(to request: LoginRequest, _ record: RegistrationRecord) throws -> ServerLogin {
            try ServerLogin(
                request, record: record, credential: input("credential_identifier"), keys: keys(),
                parameters: parameters(), maskingNonce: input("masking_nonce"), nonce: input("server_nonce"),
                keyShareSeed: SymmetricKey(data: input("server_keyshare_seed")))
        }
    }
#endif
