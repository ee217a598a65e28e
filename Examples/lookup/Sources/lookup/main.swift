import Foundation
import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient

// lookup DIRECTORY.signet HANDLE
let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    print("usage: lookup DIRECTORY.signet HANDLE")
    exit(64)
}
do {
    let profile = try DirectoryProfile(decoding: Array(Data(contentsOf: URL(filePath: arguments[1]))))
    let handle = try Handle(typed: Array(arguments[2].utf8))

    let store = try SQLiteStore.open(at: "trust.sqlite")
    let client = try Client(of: profile, over: NIOTransport(to: profile), remembering: store, owner: nil)
    switch try await client.lookup(handle) {
    case .registered(let verdict):
        // Keys come with people whom the account in `owner` has added; for all other people, it prints what the log
        // has.
        print("\(handle): version \(verdict.version), \(verdict.keys == nil ? "nobody you chose" : "as you know them")")
    case .closed: print("\(handle) has left.")
    case .absent: print("Nobody is called \(handle).")
    }
} catch {
    print("Not looked up: \(error)")
    exit(1)
}
