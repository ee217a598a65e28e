// SPDX-License-Identifier: Apache-2.0

import CivilTime
public import Logging
import Platform

/// Writes one line per event to standard error: `time=… level=… msg="…" key=value …`.
///
/// Security: writes what it is given. Handles, addresses and keys must not be given to it.
public struct LogfmtOutput: LogHandler {
    /// Values that every line carries.
    public var metadata: Logger.Metadata = [:]
    /// Lines below this level are not written. Setting it sets it for this value and its copies.
    public var logLevel: Logger.Level {
        get { ownLevel ?? level() }
        set { ownLevel = newValue }
    }
    /// Values asked for at each line.
    public var metadataProvider: Logger.MetadataProvider?
    private var ownLevel: Logger.Level?
    private let level: @Sendable () -> Logger.Level
    private let write: @Sendable ([UInt8]) -> Void
    private let now: @Sendable () -> UInt64

    /// An output to standard error, from a level on.
    public init(level: Logger.Level) { self.init(level: { level }) }

    /// An output to standard error, from a level on that is asked for at each line.
    package init(level: @escaping @Sendable () -> Logger.Level) {
        self.init(level: level, now: ServerClock.system.time) { line in
            _ = line.withUnsafeBytes { Self.systemWrite($0) }
        }
    }

    /// An output to anywhere.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - write: takes a whole line with its end.
    package init(
        level: Logger.Level, now: @escaping @Sendable () -> UInt64, write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.init(level: { level }, now: now, write: write)
    }

    private init(
        level: @escaping @Sendable () -> Logger.Level, now: @escaping @Sendable () -> UInt64,
        write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.level = level
        self.now = now
        self.write = write
    }

    /// A value that every line carries.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a line.
    public func log(event: LogEvent) {
        var line = "time=\(UTCTime(secondsSince1970: now()).text) level=\(event.level.rawValue) msg="
        line += Self.quoted(event.message.description)
        var values = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }
        values.merge(event.metadata ?? [:]) { $1 }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            line += " \(key)=\(Self.quoted(value.description))"
        }
        if let error = event.error { line += " error=\(Self.quoted("\(error)"))" }
        write(Array((line + "\n").utf8))
    }

    /// One call for a line, so that lines of several threads do not mix.
    private static func systemWrite(_ line: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.write(STDERR_FILENO, line.baseAddress, line.count)
        #else
            Darwin.write(STDERR_FILENO, line.baseAddress, line.count)
        #endif
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D }
        if isPlain { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: quoted += "?"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
