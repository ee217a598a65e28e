// SPDX-License-Identifier: Apache-2.0

import Signet
import SignetAPI
import SignetClient

extension Session {
    /// Keeps the pins that the directory's log has; see `OpenHome`.
    @discardableResult
    func keep(_ pins: DirectoryPins) throws(ClientError) -> Bool { try open.keep(pins) }

    /// Takes pins that came as a file; see `OpenHome`.
    ///
    /// - Throws: `CommandFailure`: nothing has changed.
    func accept(_ note: [UInt8]) async throws -> DirectoryPins {
        do { return try await open.accept(note) } catch { throw CommandFailure(error, session: self) }
    }
}
