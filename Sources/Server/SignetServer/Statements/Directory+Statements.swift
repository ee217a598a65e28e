// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import SignetAPI

extension Directory {
    /// The answer to the question for the newest statement under a label.
    ///
    /// - Parameters:
    ///   - text: the newest statement.
    ///   - version: its version.
    ///   - size: of the log that the asker has verified.
    func answer(
        _ text: [UInt8], _ version: UInt64, under label: ReservedLabel, in size: UInt64
    ) async throws(DirectoryError) -> StatementAnswer {
        try await catchUp(to: size)
        guard let place = try newestRecord(under: label, in: size), place.version == version else {
            return .anotherEpoch
        }
        return .statement(LoggedStatement(text: text, place: place))
    }
}
