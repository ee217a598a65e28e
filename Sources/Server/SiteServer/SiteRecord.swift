// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import HTTPTypes
import HummingbirdCore
import StrictJSON
import Synchronization

/// Writes down the whole content of every request, to show what a site can learn.
///
/// For each: method and path; every header field; `body` and its bytes in hex; `answer` and its bytes; an empty line. An encrypted answer of a
/// wallet is preceded by `presentation` and the bytes of what was in it.
public final class SiteRecord: Sendable {
    private let handle: Mutex<FileHandle>

    /// Appends to a file, or makes it; nil when it cannot be written.
    public init?(path: String) {
        if !FileManager.default.fileExists(atPath: path) {
            guard FileManager.default.createFile(atPath: path, contents: nil) else { return nil }
        }
        guard let file = FileHandle(forWritingAtPath: path), (try? file.seekToEnd()) != nil else { return nil }
        handle = Mutex(file)
    }

    func add(presentation text: JSONText) {
        let line = Data("presentation \(Self.hex(text.utf8))\n".utf8)
        handle.withLock { try? $0.write(contentsOf: line) }
    }

    func add(_ request: Request, _ body: [UInt8], _ answer: [UInt8]) {
        var lines = ["\(request.method.rawValue) \(request.head.path ?? "") \(request.head.authority ?? "")"]
        lines += request.headers.map { "\($0.name.canonicalName): \($0.value)" }
        lines += ["body \(Self.hex(body))", "answer \(Self.hex(answer))", "", ""]
        let text = Data(lines.joined(separator: "\n").utf8)
        // A record that cannot be written changes nothing about the answer.
        handle.withLock { try? $0.write(contentsOf: text) }
    }

    private static func hex(_ bytes: [UInt8]) -> String { String(decoding: Hex.encode(bytes), as: UTF8.self) }
}
