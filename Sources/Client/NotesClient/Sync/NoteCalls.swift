// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import PinnedHTTP
import SignetClient

/// The routes of the notes as functions, which parse the answers and do not judge them.
struct NoteCalls<Store: ClientStore>: Sendable {
    let client: Client<Store>
    let secrets: DeviceSecrets
    let surroundings: Surroundings

    func call<Answer: NoteBody>(
        _ route: NoteRoute, _ body: some NoteBody, isSigned: Bool = true
    ) async throws(NotesError) -> Answer {
        try await call(route, bytes: body.encoded, isSigned: isSigned)
    }

    func accountKeys() async throws(NotesError) -> AccountKeys { try await call(.accountKeys, bytes: []) }

    private func call<Answer: NoteBody>(
        _ route: NoteRoute, bytes: [UInt8], isSigned: Bool = true
    ) async throws(NotesError) -> Answer {
        let body = try await send(route, bytes, isSigned)
        do { return try Answer(decoding: body) } catch { throw .malformedAnswer }
    }

    /// Every request may be sent twice, because pushes have names and the other requests say what they replace. Each
    /// attempt is signed again, because the server accepts no signature twice.
    private func send(_ route: NoteRoute, _ bytes: [UInt8], _ isSigned: Bool) async throws(NotesError) -> [UInt8] {
        let device = isSigned ? secrets : nil
        do throws(ClientError) {
            return try await surroundings.repeating(while: { $0.family == .environment }) { () throws(ClientError) in
                try await client.call(route, bytes, signedBy: device)
            }
        } catch { throw .client(error) }
    }
}
