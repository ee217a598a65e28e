// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NoteLog
import NotesClient
import RecoveryClient
import Signet
import SignetClient
import Testing

/// The texts that an app may write into its log: the case or the check, without people, notes, files or bytes of a
/// server.
@Suite struct ErrorDescriptionTests {
    private let bob: Handle

    init() throws { bob = try Handle("bob@example.org") }

    @Test func anErrorOfNotesNamesItsCaseAndNoPerson() throws {
        let note = try #require(NoteID([UInt8](repeating: 0xab, count: 16)))
        let errors: [(NotesError, String)] = [
            (.client(.withheld(bob)), "client: withheld"), (.onlyOwner(bob), "onlyOwner"),
            (.notAMember(bob), "notAMember"), (.notAccepted(by: bob), "notAccepted"), (.stranger(bob), "stranger"),
            (.noSuchNote(note), "noSuchNote"), (.isLocked, "isLocked"), (.malformedAnswer, "malformedAnswer"),
        ]
        for (error, text) in errors {
            #expect("\(error)" == text)
            expectNoPerson(SignetError.notes(error))
        }
    }

    @Test func anErrorOfARecoveryNamesItsCaseAndNoPerson() {
        let errors: [(RecoveryClientError, String)] = [
            (.client(.history(.anotherAccount(bob))), "client: history: the check 'accountState' refused a history"),
            (.notAccepted(bob), "notAccepted"), (.boxFull(bob), "boxFull"), (.answerRefused(bob), "answerRefused"),
            (.damaged("bob.file"), "damaged"), (.tooEarly(until: 7), "tooEarly"), (.stopped, "stopped"),
        ]
        for (error, text) in errors {
            #expect("\(error)" == text)
            expectNoPerson(SignetError.recovery(error))
        }
    }

    private func expectNoPerson(_ error: SignetError, at line: SourceLocation = #_sourceLocation) {
        let said = "\(error) \(error.localizedDescription)"
        #expect(!said.contains("bob") && !said.contains("171"), sourceLocation: line)
        #expect(!error.explanation.what.isEmpty && !error.explanation.remedy.isEmpty, sourceLocation: line)
    }
}
