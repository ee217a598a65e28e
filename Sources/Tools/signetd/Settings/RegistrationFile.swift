// SPDX-License-Identifier: Apache-2.0

import SignetServer

/// The file that `--registration` names, and the file of keys that this one names.
enum RegistrationFile {
    /// Reads the policy.
    static func policy(at path: String) throws(SettingFault) -> RegistrationPolicy {
        guard let bytes = OptionFile.contents(path) else { throw SettingFault(.file(path), .unreadable) }
        do { return try RegistrationPolicy(decoding: bytes) } catch {
            let place = error.line.map { SettingFault.Place.line($0, of: path) } ?? .file(path)
            throw SettingFault(place, .policy(error.reason))
        }
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
