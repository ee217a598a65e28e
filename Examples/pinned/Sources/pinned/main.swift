import Foundation
import KeyPinning
import PinnedChains
import PinnedHTTP

// pinned POLICY https://HOST[:PORT] PATH [ROOT.pem]
let arguments = CommandLine.arguments
guard (4...5).contains(arguments.count) else {
    print("usage: pinned POLICY https://HOST[:PORT] PATH [ROOT.pem]")
    exit(64)
}
do {
    let policy = try PinPolicy(decoding: Array(Data(contentsOf: URL(filePath: arguments[1]))))
    let address = try ServerAddress(arguments[2])
    let roots =
        arguments.count == 5
        ? try TrustAnchors(PEMBlock.certificates(in: Array(Data(contentsOf: URL(filePath: arguments[4])))))
        : TrustAnchors.ofSystem()?.anchors
    guard let roots else { throw TransportError.invalidRoot }

    let connector = try PinnedConnector(ChainVerifier(policy: policy, anchors: roots))
    let client = NIOTransport(to: address, through: connector)
    let limit = ResponseLimit(maximumByteCount: 1_048_576, mediaType: nil)
    let answer = try await client.send(TransportRequest(method: "GET", path: arguments[3], limit: limit))
    print(answer.status, String(decoding: answer.body, as: UTF8.self))
} catch TransportError.refused(let refusal) {
    print("Not connected, nothing was sent: \(refusal.reason)")
    exit(1)
} catch {
    print("Failed: \(error)")
    exit(1)
}
