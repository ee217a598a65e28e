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

    Task {
        for await bytes in carrier.incoming() {
            do {
                let opened = try await account.open(bytes, for: "org.example.chat")
                print("\(opened.content.sender.handle): \(opened.content.text)")
            } catch { print("refused: \(error)") }
        }
    }
    Task { for await event in account.events { print("! \(event)") } }

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
