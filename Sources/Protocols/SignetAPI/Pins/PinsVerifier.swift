// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import TransparencyLog

/// Decides whether a directory's pins take the place of those in use.
public struct PinsVerifier: Sendable {
    /// What is in use.
    public let profile: DirectoryProfile

    /// A verifier for what is in use.
    public init(_ profile: DirectoryProfile) { self.profile = profile }

    /// Checks, in this order: signature and form, log, version, memory.
    ///
    /// - Parameter epoch: one that was shown to be recent, by a lookup.
    /// - Throws: ``DirectoryPinsError``.
    ///
    /// Security: accepted pins are in the log that the quorum has signed, and were the newest in this epoch; every
    /// client that asks is shown the same. It is not proven that the operator meant them: a holder of the log's key and
    /// a quorum can log others.
    public func verify(_ answer: LoggedPins, in epoch: VerifiedEpoch) throws(DirectoryPinsError) -> DirectoryPins {
        let logs = profile.trust.policy.logs
        let pins = try DirectoryPins(answer.note, signedByOneOf: logs)
        guard logs.contains(where: { $0.name == pins.origin }) else { throw .otherOrigin }
        do { try answer.place.verify(pins.text, under: .pins, in: epoch) } catch { throw .notLogged(error) }
        guard pins.version == answer.place.version else {
            throw .otherVersion(logged: answer.place.version, stated: pins.version)
        }
        guard let mark = profile.mark else { return pins }
        guard pins.version >= mark.version else { throw .older(known: mark.version, shown: pins.version) }
        guard pins.version > mark.version || pins.mark == mark else { throw .replaced(version: mark.version) }
        return pins
    }

    /// Checks pins that came as a file, because no server is reached by those in use: signature of the recovery key, form, log, version.
    ///
    /// - Throws: ``DirectoryPinsError``.
    ///
    /// Security: they may only be used to ask the directory whether they are the newest in its log.
    public func verify(file note: [UInt8]) throws(DirectoryPinsError) -> DirectoryPins {
        guard let key = profile.server.recoveryKey else { throw .noRecoveryKey }
        let pins = try DirectoryPins(note, signedByOneOf: [key])
        guard profile.trust.policy.logs.contains(where: { $0.name == pins.origin }) else { throw .otherOrigin }
        guard isNews(pins.mark) else { throw .known(version: pins.version) }
        return pins
    }

    /// Puts the pins of a directory file, which the operator gives to people, in the place of those in use, to ask the directory by them.
    /// Checks, in this order: log, version: a later one, or other pins of the same one. Nothing else of the file counts.
    ///
    /// - Returns: address and trust of what is in use, with the file's pins. The mark is that of what is in use too, unless the file has
    ///   others of the same version: then the log has to have those of the file, or later ones.
    /// - Throws: ``DirectoryPinsError/otherOrigin``, ``DirectoryPinsError/known(version:)``; no retry helps.
    ///
    /// Security: nobody has signed the file. As with ``verify(file:)``, the pins may only be used to ask the directory whether they are the
    /// newest in its log.
    public func candidate(from file: DirectoryProfile) throws(DirectoryPinsError) -> DirectoryProfile {
        let names = profile.trust.policy.logs.map(\.name)
        guard file.trust.policy.logs.contains(where: { names.contains($0.name) }) else { throw .otherOrigin }
        guard isNews(file.mark) else { throw .known(version: file.mark?.version ?? 0) }
        let mark = file.mark?.version == profile.mark?.version ? file.mark : profile.mark
        return DirectoryProfile(url: profile.url, server: file.server, mark: mark, trust: profile.trust)
    }

    /// Whether pins of a file are later than those in use, or others of the same version: a server whose files were put back can have made
    /// two, and its log has one of them at most.
    private func isNews(_ mark: PinsMark?) -> Bool {
        let (stated, known) = (mark?.version ?? 0, profile.mark?.version ?? 0)
        return stated > known || stated == known && mark != profile.mark
    }
}
