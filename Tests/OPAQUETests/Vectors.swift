// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation

/// The vectors of RFC 9807's repository, beside the package; absent in a bare checkout.
struct OPAQUEVector: Decodable {
    let config, inputs, outputs: [String: String]
    let intermediates: [String: String]

    static let file = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/vectors/opaque/vectors.json").standardized

    static var isPresent: Bool { FileManager.default.fileExists(atPath: file.path()) }

    static func load(fake: Bool) throws -> [OPAQUEVector] {
        try JSONDecoder().decode([OPAQUEVector].self, from: Data(contentsOf: file))
            .filter { $0.config["Group"] == "ristretto255" && $0.config["Fake"] == (fake ? "True" : "False") }
    }

    func input(_ name: String) throws -> [UInt8] { try Hex.decode(Array((inputs[name] ?? "").utf8)) }
    func output(_ name: String) throws -> [UInt8] { try Hex.decode(Array((outputs[name] ?? "").utf8)) }
    func optional(_ name: String) throws -> [UInt8]? { try inputs[name].map { try Hex.decode(Array($0.utf8)) } }
    var context: [UInt8] { (try? Hex.decode(Array((config["Context"] ?? "").utf8))) ?? [] }
}
