// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import Testing
import TransparencyLog

@testable import KeyDirectory

/// Which policy a server may sign under, as its log says. What it does with a whole directory is in `FormerFilesTests`.
@Suite struct KeyChangesTests {
    /// The log has the record of a change, and the file with its proof is not there: of before, or not written yet.
    @Test func aChangeWithoutItsProofIsForWhoeverMakesIt() throws {
        let place = try Place()
        let policy = try place.verifier().trust.policy
        let changes = KeyChanges(at: place.path)
        try changes.requireNewest(policy, logged: 0)
        #expect(throws: DirectoryOpenError.keysChanged) { try changes.requireNewest(policy, logged: 1) }
        try changes.requireNewest(policy, logged: 1, changingTo: policy)
        #expect(throws: DirectoryOpenError.keysChanged) {
            try changes.requireNewest(policy, logged: 2, changingTo: policy)
        }
    }
}
