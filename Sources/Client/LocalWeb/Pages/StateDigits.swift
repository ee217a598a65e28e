// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Signet

/// Identifies in a form the state that its page showed, so that the action applies to this state and to no later one.
enum StateDigits {
    /// Of a change of a person's keys.
    static func of(_ change: KeyChange) -> String { String(decoding: Hex.encode(change.stateHash), as: UTF8.self) }

    /// Of a request for a person's identity.
    static func of(_ request: GuardianRequest) -> String {
        String(decoding: Hex.encode(request.guardianCase.request.hash), as: UTF8.self)
    }

    /// Of what a note says.
    static func of(_ document: NoteDocument) -> String {
        var hash = SHA256()
        for part in [document.title, document.body] + document.tags {
            hash.update(data: Array("\(part.count):".utf8))
            hash.update(data: part)
        }
        hash.update(data: Array("\(document.modified)".utf8))
        return String(decoding: Hex.encode(Array(hash.finalize())), as: UTF8.self)
    }
}
