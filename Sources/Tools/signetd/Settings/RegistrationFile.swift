// SPDX-License-Identifier: Apache-2.0

import Platform
import SignetServer

/// The file that `--registration` names, and the file of keys that this one names.
enum RegistrationFile {
    /// Reads the policy.
    static func policy(at path: String) throws(SettingFault) -> RegistrationPolicy {
        guard let bytes = OptionFile.contents(path) else { throw SettingFault(.file(path), .unreadable) }
        let policy: RegistrationPolicy
        do { policy = try RegistrationPolicy(decoding: bytes) } catch {
            let place = error.line.map { SettingFault.Place.line($0, of: path) } ?? .file(path)
            throw SettingFault(place, .policy(error.reason))
        }
        if let program = policy.mailProgram, !isProgram(program) {
            throw SettingFault(.file(path), .mailProgram(program))
        }
        return policy
    }

    /// Whether this user can run a file.
    private static func isProgram(_ path: String) -> Bool {
        FileStatus(of: path)?.isFile == true && access(path, X_OK) == 0
    }

    /// Reads the keys of the token issuer; nil if no domain registers with tokens.
    static func keys(of policy: RegistrationPolicy) async throws(SettingFault) -> TokenKeys? {
        guard let path = policy.tokens?.keys else { return nil }
        guard let bytes = OptionFile.contents(path) else { throw SettingFault(.file(path), .tokenKeys(.unreadable)) }
        do { return try await TokenKeys(decoding: bytes) } catch {
            throw SettingFault(.file(path), .tokenKeys(error))
        }
    }
}
