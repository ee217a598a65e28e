// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What a process does of a directory that several share.
struct ServerRoles: OptionSet, Hashable, Sendable {
    let rawValue: Int

    /// It answers clients and accepts what they bring.
    static let serve = ServerRoles(rawValue: 1)
    /// It writes the log whenever no other process does.
    static let sequence = ServerRoles(rawValue: 2)
    /// Both.
    static let all: ServerRoles = [.serve, .sequence]

    init(rawValue: Int) { self.rawValue = rawValue }

    /// Reads the words of the option, with commas between them.
    init(typed text: String) throws {
        self = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            switch word {
            case "serve": insert(.serve)
            case "sequence": insert(.sequence)
            default: throw ValidationError("roles are serve, sequence, or serve,sequence")
            }
        }
    }
}
