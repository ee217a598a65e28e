// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SignetClient

// The errors that an app meets before it has an account: a handle that a person typed, and the directory file.

extension HandleError: CustomStringConvertible {
    /// The ``explanation`` in one line.
    public var description: String { "\(explanation.what) \(explanation.remedy)" }

    /// What is wrong with the handle, and what to do about it.
    public var explanation: Explanation {
        let remedy =
            "Type a handle such as alice@example.org: small letters, digits, and . _ + - before the @, a domain after it."
        return switch self {
        case .tooLong: Explanation("The handle is too long.", "A handle has at most 254 bytes.")
        case .notOneAtSign: Explanation("The handle does not have exactly one @.", remedy)
        case .invalidLocalPart:
            Explanation(
                "The part of the handle before the @ is empty, too long, or has a character that it may not have.",
                remedy)
        case .invalidDomain: Explanation("The part of the handle after the @ is not a domain.", remedy)
        }
    }
}

extension HomeError: CustomStringConvertible {
    /// The ``explanation`` in one line.
    public var description: String { "\(explanation.what) \(explanation.remedy)" }

    /// What is wrong with the directory file, and what to do about it.
    public var explanation: Explanation {
        switch self {
        case .file(.notFound): Explanation("There is no directory file at this path.", "Check the path.")
        case .file(let fault):
            Explanation("The directory file cannot be read: \(fault).", "Check the file and its permissions.")
        case .profile: Explanation("That is not a directory file.", "Get it again from the directory's operator.")
        }
    }
}

extension FileFault: CustomStringConvertible {
    /// The fault as a clause, without a path.
    public var description: String {
        switch self {
        case .notFound: "it does not exist"
        case .exists: "it already exists"
        case .isDirectory: "it is a folder"
        case .notADirectory: "it is not a folder"
        case .notPermitted: "the system does not permit it"
        case .noSpace: "the disk is full"
        case .readOnly: "the disk cannot be written to"
        case .tooLong(let limit): "it is longer than \(limit) bytes"
        case .openToOthers: "other users of the machine may read it"
        case .system(let number): "the system reports error \(number)"
        }
    }
}

extension ComparisonState: CustomStringConvertible {
    /// Whether the two people compared keys, in a word or two and without a key.
    public var description: String {
        switch self {
        case .none: "no"
        case .compared: "yes"
        case .outdated: "not since their identity changed"
        }
    }
}
