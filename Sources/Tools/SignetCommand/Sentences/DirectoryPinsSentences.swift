import SignetAPI

extension DirectoryPinsError {
    var sentence: Sentence {
        let lie = "The pins in use stay. Ask whoever runs the directory, by another way."
        let again = "Nothing has changed. Ask whoever runs the directory for the file again, by another way."
        return switch self {
        case .notLogged:
            Sentence("The directory shows this device pins of its server that are not the newest in its log.", lie)
        case .older(let known, let shown):
            Sentence(
                "The directory shows an old version of its server's pins, \(shown), and its log had \(known) before.",
                lie)
        case .replaced(let version):
            Sentence("The directory shows other pins of its server as version \(version) than its log had before.", lie)
        case .otherVersion(let logged, let stated):
            Sentence("The log has \(logged) versions of the server's pins, and the last calls itself \(stated).", lie)
        case .withheld:
            Sentence("The directory does not show this device what its log says of its server's pins.", lie)
        case .unusable: Sentence("By the server's new pins no server could be reached.", lie)
        case .notSigned: Sentence("The pins of the directory's server are not signed by the key that has to.", lie)
        case .otherOrigin: Sentence("These are pins of another directory.", again)
        case .tooLong, .malformedNote, .malformed: Sentence("The pins of the directory's server cannot be read.", again)
        case .noRecoveryKey:
            Sentence(
                "This directory named no recovery key, so that nobody can tell whose pins these are.",
                "Get a new directory file from the person who runs the directory.")
        case .known(let version):
            Sentence("The file holds version \(version), which is no newer than the pins in use.", again)
        }
    }
}
