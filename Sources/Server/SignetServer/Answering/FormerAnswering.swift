// SPDX-License-Identifier: Apache-2.0

package import KeyDirectory
import KeyTransparency
package import SignetAPI

/// Answers about logs that ended before this one: without it a handover would let a directory forget what it had shown.
package struct FormerAnswering: PartAnswering {
    private let logs: FormerLogs

    /// Answers from what the directory inherited.
    package init(beside directory: Directory) { logs = FormerLogs(of: directory) }

    package var routes: [any PartRoute] { FormerRoute.allCases }

    package func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        let question: FormerRequest
        do { question = try FormerRequest(decoding: request.body) } catch { throw PartRefusal(.badRequest) }
        do { return try await logs.answer(question).encoded } catch {
            switch error {
            case .refused(let code): throw PartRefusal(code)
            case .stopped, .database: throw PartRefusal(.unavailable)
            }
        }
    }

    package func close() async {}
}
