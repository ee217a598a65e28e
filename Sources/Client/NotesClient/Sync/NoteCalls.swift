// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import PinnedHTTP
import SignetClient

/// The routes of the notes as functions. Answers are read, not believed.
struct NoteCalls<Store: ClientStore>: Sendable {
    let client: Client<Store>
    let secrets: DeviceSecrets
    let surroundings: Surroundings

    /// How long to wait before another try, when the environment failed. Every request may come twice: pushes have names,
    /// the others say what they replace.
    private static var delays: [Duration] { [.milliseconds(200), .milliseconds(800)] }

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

    /// Each attempt is signed separately: the server accepts no signature twice.
    private func send(_ route: NoteRoute, _ bytes: [UInt8], _ isSigned: Bool) async throws(NotesError) -> [UInt8] {
        let device = isSigned ? secrets : nil
        for delay in Self.delays {
            do { return try await client.call(route, bytes, signedBy: device) } catch {
                guard error.family == .environment else { throw .client(error) }
                await surroundings.wait(delay)
            }
        }
        do { return try await client.call(route, bytes, signedBy: device) } catch { throw .client(error) }
    }
}
