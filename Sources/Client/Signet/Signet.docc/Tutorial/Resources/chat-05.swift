// SPDX-License-Identifier: Apache-2.0

import Signet

func chat(
    home: HomeFolder, passphrase: SecretBytes, me: String, friend: String, over carrier: any Carrier
) async throws {
    let directory = try HomeFolder.profile(in: DurableFile(path: "directory.signet"))
    let account =
        home.keystore.exists
        ? try await Account.open(in: home, passphrase: passphrase)
        : try await Account.create(Handle(me), at: directory, in: home, passphrase: passphrase)

    let friend = try Handle(friend)
    let contact = try await account.meet(friend)
    print("\(contact.handle) has \(contact.deviceCount) device(s); compared: \(contact.comparison)")

    while let line = readLine() {
        let message = try await account.seal(line, to: [contact.handle], for: "org.example.chat")
        try await carrier.send(message.encoded, to: contact.handle)
    }
}

/// The app's own transport.
protocol Carrier: Sendable {
    func send(_ bytes: [UInt8], to person: Handle) async throws
    func incoming() -> AsyncStream<[UInt8]>
}
