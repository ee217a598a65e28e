// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI

/// What is safe in an app's log: the check, the case and quantities. It contains no handle, no key, and no byte that a server
/// sent.
extension ClientError: CustomStringConvertible {
    /// The case and the check.
    public var description: String {
        switch self {
        case .transport(let error): "transport: \(error)"
        case .refused(let code, _): "refused: \(code.rawValue)"
        case .unexpectedStatus(let status): "unexpectedStatus: \(status)"
        case .notReached(let status, _): "notReached: \(status)"
        case .lookup(let refusal): "lookup: \(refusal)"
        case .history(let refusal): "history: \(refusal)"
        case .notWhatWasSent: "notWhatWasSent"
        case .showsLess(let size, _): "showsLess: than \(size)"
        case .viewKeepsMoving: "viewKeepsMoving"
        case .store(let error): "store: \(error)"
        case .keystore(let error): "keystore: \(error)"
        default: Mirror(reflecting: self).children.first?.label ?? "unknown"
        }
    }
}

extension LookupRefusal: CustomStringConvertible {
    /// The check that failed.
    public var description: String { "the check '\(error.check)' refused an answer of \(response.count) bytes" }
}
