import Foundation
import KeyTransparency
import SignetAPI

// verify HANDLE                           prints the question to the directory
// verify HANDLE DIRECTORY.signet ANSWER   checks the answer, and prints the keys of the person's devices
let arguments = CommandLine.arguments
guard arguments.count == 2 || arguments.count == 4 else {
    print("usage: verify HANDLE [DIRECTORY.signet ANSWER]")
    exit(64)
}
do {
    let handle = try Handle(typed: Array(arguments[1].utf8))
    guard arguments.count == 4 else {
        FileHandle.standardOutput.write(Data(LookupRequest(handle: handle, knownSize: 0).encoded))
        exit(0)
    }
    let profile = try DirectoryProfile(decoding: Array(Data(contentsOf: URL(filePath: arguments[2]))))
    let answer = try Array(Data(contentsOf: URL(filePath: arguments[3])))
    let now = UInt64(Date().timeIntervalSince1970)
    switch try LookupVerifier(trust: profile.trust).verify(answer, for: handle, knowing: nil, at: now) {
    case .registered(let found):
        for device in found.state.devices {
            print(device.number, Data(device.keys.signing).base64EncodedString())
        }
    default: print("The directory proves that nobody has this handle, or no longer.")
    }
} catch {
    print("Not verified: \(error)")
    exit(1)
}
