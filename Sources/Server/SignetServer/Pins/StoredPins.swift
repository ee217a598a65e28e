// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
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

    /// The pins before the newest, if there are any, and the newest.
    ///
    /// - Parameter isFirst: whether the log has none yet. Then a data directory from before pins were logged gets its first of the file for
    ///   clients; otherwise they would be others than those that the log has.
    static func all(
        in data: DataDirectory, of profile: DirectoryProfile, at now: UInt64, isFirst: Bool
    ) throws(StoredPinsError) -> [DirectoryPins] {
        if isFirst, access(data.pins, F_OK) != 0, let log = profile.trust.policy.logs.first {
            let first = DirectoryPins(origin: log.name, version: 1, time: now, server: profile.server)
            do { try PrivateFile.replace(data.pins, with: first.text, mode: 0o644) } catch { throw .file(error) }
        }
        return try existing(in: data, of: profile)
    }

    /// Those that are there.
    static func existing(
        in data: DataDirectory, of profile: DirectoryProfile
    ) throws(StoredPinsError) -> [DirectoryPins] {
        let newest = try read(data.pins, of: profile)
        return access(data.formerPins, F_OK) == 0 ? [try read(data.formerPins, of: profile), newest] : [newest]
    }

    /// How pins stand to those of a log. Not only the version counts: two machines, or an older copy of the files, can have made another
    /// version of the same number, and clients have been told of only one.
    ///
    /// - Parameters:
    ///   - all: those before the newest, if they are there, and the newest.
    ///   - logged: the newest record of the log under the label of pins.
    static func standing(of all: [DirectoryPins], to logged: ReservedRecord?) -> PinsStanding {
        guard let logged else { return .agreed }
        guard let newest = all.last, newest.version >= logged.version else { return .older }
        guard let same = all.last(where: { $0.version == logged.version }) else { return .agreed }
        return logged.isOf(same.text) ? .agreed : .other
    }
}

/// How the pins of a data directory stand to those of its log.
enum PinsStanding: Hashable, Sendable {
    /// They are the log's newest, or follow on these.
    case agreed
    /// The log has a later version.
    case older
    /// The log has others of the same version, or others before those that are to follow.
    case other
}

/// Why pins of a data directory were not read.
package enum StoredPinsError: Error, Hashable, Sendable {
    /// The file was not read or written.
    case file(FileFailure)
    /// It holds something else.
    case malformed(path: String, DirectoryProfileError)
    /// They are those of another directory.
    case ofOtherDirectory(path: String)

    /// Whether there is no file.
    var isMissing: Bool {
        if case .file(let failure) = self { failure.code == ENOENT } else { false }
    }
}
