// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import Testing

/// Certificates made by openssl, and the pins and dates that openssl prints for them.
struct PinVector: CustomTestStringConvertible {
    let name: String
    let certificate: [UInt8]
    let pin: String
    let notBefore: Int64
    let notAfter: Int64

    var testDescription: String { name }

    static let all: [PinVector] = (try? load()) ?? []

    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors/key-pinning")

    private static func load() throws -> [PinVector] {
        let table = try String(contentsOf: folder.appending(path: "pins.txt"), encoding: .utf8)
        return try table.split(separator: "\n").map { line in
            let parts = line.split(separator: " ").map(String.init)
            let file = try Data(contentsOf: folder.appending(path: parts[0] + ".pem"))
            return PinVector(
                name: parts[0], certificate: try PEMBlock.certificates(in: Array(file))[0], pin: parts[1],
                notBefore: Int64(parts[2]) ?? 0, notAfter: Int64(parts[3]) ?? 0)
        }
    }
}
