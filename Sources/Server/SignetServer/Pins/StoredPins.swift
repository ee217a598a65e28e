// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Platform
package import SignetAPI
import TransparencyLog

/// The files of a data directory that hold its pins.
package enum StoredPins {
    /// Reads the text of pins.
    ///
    /// - Parameter profile: of the directory that they have to be of; nil: of any.
    /// - Throws: ``StoredPinsError``.
    package static func read(
        _ path: String, of profile: DirectoryProfile? = nil
    ) throws(StoredPinsError) -> DirectoryPins {
        let text: [UInt8]
        do throws(FileFailure) {
            text = try PrivateFile.read(path, maximumByteCount: DirectoryPins.maximumByteCount)
        } catch { throw .file(error) }
        let pins: DirectoryPins
        do { pins = try DirectoryPins(decoding: text) } catch { throw .malformed(path: path, error) }
        guard profile?.trust.policy.logs.contains(where: { $0.name == pins.origin }) ?? true else {
            throw .ofOtherDirectory(path: path)
        }
        return pins
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
        let newest = try read(data.pins, of: profile)
        return access(data.formerPins, F_OK) == 0 ? [try read(data.formerPins, of: profile), newest] : [newest]
    }
}

/// Why pins of a data directory were not read.
package enum StoredPinsError: Error, Hashable, Sendable {
    /// The file was not read or written.
    case file(FileFailure)
    /// It holds something else.
    case malformed(path: String, DirectoryProfileError)
    /// They are those of another directory.
    case ofOtherDirectory(path: String)
}
