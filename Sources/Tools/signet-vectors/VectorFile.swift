// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation

/// Why vectors could not be run.
enum VectorFileError: Error {
    /// Nothing can be read at this path.
    case unreadable(path: String)
    /// The file is not JSON of the suite's schema.
    case malformed(path: String, reason: String)
    /// The path holds no case of the suite.
    case noCases(path: String)

    var message: String {
        switch self {
        case .unreadable(let path): "cannot read \(path)"
        case .malformed(let path, let reason): "\(path) is not a file of this suite: \(reason)"
        case .noCases(let path): "no case of this suite in \(path)"
        }
    }

    /// As in sysexits: EX_DATAERR, EX_NOINPUT.
    var exitCode: Int32 {
        if case .unreadable = self { 66 } else { 65 }
    }
}

/// A file or folder of vectors.
struct VectorFile {
    let path: String

    init(_ path: String) { self.path = path }

    var isFolder: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// The folder that holds the file.
    var folder: VectorFile {
        VectorFile(URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false))
    }

    func appending(_ name: String) -> VectorFile {
        VectorFile(URL(filePath: path).appending(path: name).path(percentEncoded: false))
    }

    /// The paths below this folder, relative to it, in order.
    var contents: [String] { ((try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []).sorted() }

    func bytes() throws(VectorFileError) -> [UInt8] {
        guard !isFolder, let data = FileManager.default.contents(atPath: path) else {
            throw .unreadable(path: path)
        }
        return Array(data)
    }

    func json<Value: Decodable>(_ type: Value.Type = Value.self) throws(VectorFileError) -> Value {
        let data = Data(try bytes())
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw .malformed(path: path, reason: Self.reason(error))
        }
    }

    private static func reason(_ error: any Error) -> String {
        func place(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }
                .joined()
            return path.isEmpty ? "at the top" : "at \(path)"
        }
        switch error as? DecodingError {
        case .keyNotFound(let key, let context):
            return "field \"\(key.stringValue)\" is missing \(place(context))"
        case .typeMismatch(let type, let context): return "not of type \(type) \(place(context))"
        case .valueNotFound(let type, let context): return "null where \(type) is needed \(place(context))"
        case .dataCorrupted(let context): return "\(context.debugDescription) \(place(context))"
        default: return "not JSON"
        }
    }
}

/// A field of lower-case or upper-case hexadecimal digits.
struct HexField: Decodable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = Array(try container.decode(String.self).lowercased().utf8)
        do {
            bytes = try Hex.decode(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
        }
    }
}
