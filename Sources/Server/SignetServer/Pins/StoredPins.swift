// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Platform
package import SignetAPI
import TransparencyLog

/// The files of a data directory that hold its pins.
package enum StoredPins {
    /// Reads the text of pins.
    ///
    /// - Throws: ``StoredPinsError``.
    package static func read(_ path: String) throws(StoredPinsError) -> DirectoryPins {
        let text: [UInt8]
        do throws(FileFailure) {
            text = try PrivateFile.read(path, maximumByteCount: DirectoryPins.maximumByteCount)
        } catch { throw .file(error) }
        do { return try DirectoryPins(decoding: text) } catch { throw .malformed(path: path, error) }
    }

    /// The pins before the newest, if there are any, and the newest. A data directory from before pins were logged gets its first
    /// of the file for clients.
    static func all(
        in data: DataDirectory, of profile: DirectoryProfile, at now: UInt64
    ) throws(StoredPinsError) -> [DirectoryPins] {
        if access(data.pins, F_OK) != 0, let log = profile.trust.policy.logs.first {
            let first = DirectoryPins(origin: log.name, version: 1, time: now, server: profile.server)
            do { try PrivateFile.replace(data.pins, with: first.text, mode: 0o644) } catch { throw .file(error) }
        }
        let newest = try read(data.pins)
        return access(data.formerPins, F_OK) == 0 ? [try read(data.formerPins), newest] : [newest]
    }
}

/// Why pins of a data directory were not read.
package enum StoredPinsError: Error, Hashable, Sendable {
    /// The file was not read or written.
    case file(FileFailure)
    /// It holds something else.
    case malformed(path: String, DirectoryProfileError)
}
