import Foundation
import Signet

// SIGNET_PASSPHRASE=… chat HOME DIRECTORY.signet ME FRIEND MAILBOXES
let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 5 else {
    print("usage: SIGNET_PASSPHRASE=... chat HOME DIRECTORY.signet ME FRIEND MAILBOXES")
    exit(64)
}
guard let passphrase = ProcessInfo.processInfo.environment["SIGNET_PASSPHRASE"] else {
    print("set SIGNET_PASSPHRASE to some words that nobody would guess")
    exit(64)
}
let context = "org.example.chat"

/// A folder for each person stands in for an app's server: its contents are sealed, and anyone may see them.
func mailbox(of person: Handle) throws -> URL {
    let folder = URL(filePath: words[4]).appending(component: "\(person)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}

/// Prints what came, in the order in which it was sent, and takes it out of the mailbox.
func receive(_ account: Account) async throws {
    let files = try FileManager.default.contentsOfDirectory(
        at: mailbox(of: account.handle), includingPropertiesForKeys: nil)
    for file in files.sorted(by: { $0.lastPathComponent < $1.lastPathComponent }) {
        guard file.pathExtension == "message" else { continue }
        do {
            let message = try await account.open(Data(contentsOf: file), for: context)
            print("\(message.content.sender.handle): \(message.content.text)")
        } catch { print("refused: \(error)") }
        try FileManager.default.removeItem(at: file)
    }
}

do {
    let passphrase = SecretBytes(copying: passphrase.utf8)
    let home = HomeFolder(path: words[0])
    let directory = try HomeFolder.profile(in: DurableFile(path: words[1]))
    let account =
        home.keystore.exists
        ? try await Account.open(in: home, passphrase: passphrase)
        : try await Account.create(Handle(words[2]), at: directory, in: home, passphrase: passphrase)
    let friend = try Handle(words[3])
    let contact = try await account.meet(friend, every: .seconds(1))
    print("\(contact.handle) has \(contact.deviceCount) device(s), compared: \(contact.comparison)")

    Task.detached { for await event in account.events { print("! \(event)") } }
    Task.detached {
        while true {
            try await receive(account)
            try await Task.sleep(for: .milliseconds(200))
        }
    }
    while let line = readLine() {
        let message = try await account.seal(line, to: [friend], for: context)
        let file = try mailbox(of: friend).appending(component: "\(Date.now.timeIntervalSince1970).message")
        try Data(message.encoded).write(to: file, options: .atomic)
    }
} catch {
    print("stopped: \(error)")
    exit(1)
}
