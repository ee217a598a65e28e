// SPDX-License-Identifier: Apache-2.0

import Signet

func chat(home: HomeFolder, passphrase: SecretBytes, me: String, friend: String) async throws {
    let account = try await Account.open(in: home, passphrase: passphrase)
}
