// SPDX-License-Identifier: Apache-2.0

public import PinnedHTTP
public import SignetClient

/// Where an auditor reads a log: the files of C2SP tlog-tiles below some prefix. None of it is believed.
public protocol LogSource: Sendable {
    /// The file at a path below the prefix, without a slash in front; nil if there is none.
    ///
    /// - Throws: ``LogSourceError``.
    func file(_ path: [UInt8], maximumByteCount: Int) async throws(LogSourceError) -> [UInt8]?
}

/// Why a source does not answer.
public enum LogSourceError: Error, Hashable, Sendable {
    /// No usable response.
    case transport(TransportError)
    /// The file cannot be read.
    case file(FileFault)
    /// Neither the file nor 404.
    case unexpectedStatus(Int)

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .transport(let error): error.family
        case .file(let fault): fault.family
        case .unexpectedStatus(let status): (500..<600).contains(status) || status == 429 ? .environment : .peer
        }
    }
}

/// A log in a folder, as any program may have copied it there.
public struct FolderLogSource: LogSource {
    /// The folder that holds `checkpoint` and `tile`.
    public let path: String

    /// The log in a folder.
    public init(path: String) { self.path = path }

    /// Reads a file.
    ///
    /// - Throws: ``LogSourceError/file(_:)``.
    public func file(_ path: [UInt8], maximumByteCount: Int) async throws(LogSourceError) -> [UInt8]? {
        do {
            return try DurableFile(path: self.path + "/" + String(decoding: path, as: UTF8.self)).read(
                maximumByteCount: maximumByteCount)
        } catch {
            guard error == .notFound || error == .notADirectory else { throw .file(error) }
            return nil
        }
    }
}
