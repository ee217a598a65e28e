// SPDX-License-Identifier: Apache-2.0

import Signet

func chat(home: HomeFolder, passphrase: SecretBytes, me: String, friend: String) async throws {
    let directory = try HomeFolder.profile(in: DurableFile(path: "directory.signet"))
    let account =
        home.keystore.exists
        ? try await Account.open(in: home, passphrase: passphrase)
        : try await Account.create(Handle(me), at: directory, in: home, passphrase: passphrase)

    let friend = try Handle(friend)
    let contact = try await account.meet(friend)
}
