import KeyTransparency
import TransparencyLog

extension SuccessionError {
    var sentence: Sentence {
        Sentence(
            "The directory's changes of its own keys do not hold: \(fact).",
            "Use nothing it says; ask whoever runs it, by another way.")
    }

    private var fact: String {
        switch self {
        case .malformed: "they cannot be read"
        case .checkpoint(let link, .quorumNotMet): "change \(link + 1) was not seen by the quorum"
        case .checkpoint(let link, _): "change \(link + 1) is not in a checkpoint of the log that was trusted before it"
        case .inclusion(let link, _): "change \(link + 1) is not in the log"
        case .number(let link, let expected, let found): "change \(link + 1) has number \(found) and not \(expected)"
        case .otherLog(let link): "change \(link + 1) is of another log"
        case .sameLog(let link): "change \(link + 1) ends the log and names it again"
        case .firstEntry: "the new log does not begin with the end of the old one"
        case .otherVRFKey(let link): "change \(link + 1) changes the key behind every label"
        }
    }
}
