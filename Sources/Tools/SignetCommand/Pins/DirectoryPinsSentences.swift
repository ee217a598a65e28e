// SPDX-License-Identifier: Apache-2.0

import SignetAPI

extension DirectoryPinsError {
    var sentence: Sentence {
        let lie = "The pins in use stay as they are. Ask the directory's operator over another channel."
        let again = "Nothing has changed. Ask the directory's operator for the file again, over another channel."
        return switch self {
        case .notLogged:
            Sentence("The directory shows this device server pins that are not the newest in its log.", lie)
        case .older(let known, let shown):
            Sentence(
                "The directory shows an old version of its server's pins, \(shown); its log already had \(known).",
                lie)
        case .replaced(let version):
            Sentence(
                "The directory's version \(version) of its server's pins differs from the one its log had before.", lie)
        case .otherVersion(let logged, let stated):
            Sentence(
                "The log has \(logged) versions of the server's pins, but the last one calls itself \(stated).", lie)
        case .withheld:
            Sentence("The directory does not show this device what its log says about its server's pins.", lie)
        case .unusable: Sentence("With the server's new pins no server could be reached.", lie)
        case .notSigned: Sentence("The pins of the directory's server are not signed by the required key.", lie)
        case .otherOrigin: Sentence("These pins belong to another directory.", again)
        case .tooLong, .malformedNote, .malformed: Sentence("The pins of the directory's server cannot be read.", again)
        case .noRecoveryKey:
            Sentence(
                "This directory named no recovery key, so there is no way to tell whose pins these are.",
                "Get a new directory file from the directory's operator, and take that with 'signet pins accept FILE'.")
        case .known(let version):
            Sentence("The file holds version \(version), which is no newer than the pins in use.", again)
        case .fileNotLogged(let version):
            Sentence(
                "The directory's log does not have version \(version) of its server's pins as the file has it.",
                "Nothing has changed. If the operator has just made this version, try again in a few minutes. Otherwise ask the operator for the "
                    + "file again, over another channel.")
        }
    }
}
