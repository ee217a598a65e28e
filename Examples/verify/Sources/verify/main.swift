import Foundation
import KeyTransparency
import SignetAPI

// verify HANDLE                           prints the question to the directory
// verify HANDLE DIRECTORY.signet ANSWER   checks the answer, and prints the keys of the person's devices
let words = CommandLine.arguments
guard words.count == 2 || words.count == 4 else { exit(64) }
do {
    let handle = try Handle(typed: Array(words[1].utf8))
    guard words.count == 4 else {
        FileHandle.standardOutput.write(Data(LookupRequest(handle: handle, knownSize: 0).encoded))
        exit(0)
    }
    let profile = try DirectoryProfile(decoding: Array(Data(contentsOf: URL(filePath: words[2]))))
    let answer = try Array(Data(contentsOf: URL(filePath: words[3])))
    let result = try LookupVerifier(trust: profile.trust)
        .verify(answer, for: handle, knowing: nil, at: UInt64(Date.now.timeIntervalSince1970))
    guard case .registered(let found) = result else {
        print("The directory proves that nobody has this handle, or no longer.")
        exit(0)
    }
    for device in found.state.devices { print(device.number, Data(device.keys.signing).base64EncodedString()) }
} catch {
    print("Not verified: \(error)")
    exit(1)
}
