// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import Platform
import Signet
import SignetAPI
import TransparencyLog

/// What a directory asks for that does not register everybody, besides an invitation.
struct RegistrationProofOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the token of the operator's login system, if the directory asks for one; - for standard input.",
            valueName: "file"))
    var token: String?
    @Option(
        help: ArgumentHelp(
            "The six digits that the directory has sent to your handle, if it asks for them.", valueName: "digits"),
        transform: Self.code)
    var code: MailCode?

    private static func code(_ text: String) throws -> MailCode {
        guard let code = MailCode(typed: text) else { throw ValidationError("not a code: it has six digits") }
        return code
    }

    /// What the command shows the directory; nil for nothing.
    func proof(besides invitation: Invitation?) throws -> RegistrationProof? {
        let token = try token.map { try Self.token(in: $0) }
        let given: [RegistrationProof?] = [
            invitation.map { .invitation($0) }, token.map { .token($0) }, code.map { .code($0) },
        ]
        guard given.compactMap({ $0 }).count < 2 else {
            throw CommandFailure(
                .usage, "More than one of --invitation, --token and --code was given.",
                "Give the one that the directory asks for.")
        }
        return given.compactMap { $0 }.first
    }

    private static func token(in path: String) throws -> RegistrationToken {
        let bytes: [UInt8]
        do { bytes = try read(path) } catch { throw CommandFailure(error, path: path) }
        guard let token = RegistrationToken(typed: String(decoding: bytes, as: UTF8.self)) else {
            throw CommandFailure(
                .badFile, "There is no token in \(path == "-" ? "standard input" : path).",
                "A token is three parts of letters, digits, - and _, with full stops between them.")
        }
        return token
    }

    private static func read(_ path: String) throws(FileFault) -> [UInt8] {
        guard path == "-" else {
            return try DurableFile(path: path).read(maximumByteCount: RegistrationToken.maximumByteCount + 2)
        }
        return Array((readLine(strippingNewline: true) ?? "").utf8)
    }

    /// Registers, and asks at the terminal for the code if one was sent.
    func register(
        _ beginning: AccountBeginning, with proof: RegistrationProof?
    ) async throws(SignetError) -> LookupVerdict {
        do { return try await beginning.register(with: proof) } catch {
            guard case .client(.refused(.codeSent, _)) = error, isatty(STDIN_FILENO) == 1, let code = Self.asked()
            else {
                throw error
            }
            return try await beginning.register(with: .code(code))
        }
    }

    private static func asked() -> MailCode? {
        Output.error("The directory has sent a code of six digits to your handle, which is a mail address. The code:")
        return MailCode(typed: readLine(strippingNewline: true) ?? "")
    }

    /// Shows to what a token has to be bound, if the directory asks for one and the user for keys: the login system needs it.
    func showWhatIsNeeded(_ error: SignetError, _ beginning: AccountBeginning, _ output: OutputOptions) {
        guard output.advanced, case .client(.refused(let code, _)) = error,
            [.tokenNeeded, .tokenRefused].contains(code),
            let nonce = beginning.tokenNonce, let log = beginning.home.profile.trust.policy.logs.first
        else { return }
        let key = String(decoding: Base64URL.encode(beginning.secrets.keys.signing), as: UTF8.self)
        output.emit(
            [
                "audience": .text(log.name.bytes), "deviceKey": .string(key),
                "handle": .string(beginning.secrets.handle.description), "needs": .string("token"),
                "nonce": .string(nonce),
            ],
            """
            For the login system:
              handle      \(beginning.secrets.handle)
              audience    \(PrintedValue.printable(log.name.bytes))
              device key  \(key)
              nonce       \(nonce)
            """)
    }
}
