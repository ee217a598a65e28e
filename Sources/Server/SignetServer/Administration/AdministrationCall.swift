// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
package import KeyTransparency

/// A call of the operator's.
package enum AdministrationCall: Hashable, Sendable {
    /// A page of all accounts, behind a handle.
    case accounts(after: Handle?)
    /// Something about one account.
    case account(Handle, Act)
    /// How many bytes an account may store; nil for as many as all may.
    case quota(Handle, UInt64?)

    /// What is asked or done about an account.
    package enum Act: String, CaseIterable, Sendable {
        case show, events, invite, suspend, resume, release, erase

        var method: HTTPRequest.Method {
            switch self {
            case .show, .events: .get
            case .invite, .suspend, .resume, .release, .erase: .post
            }
        }
    }

    /// The field of a request that says for whom the process acts that sends it.
    static let claimField = "Signet-Claim"

    var method: HTTPRequest.Method {
        switch self {
        case .accounts: .get
        case .account(_, let act): act.method
        case .quota: .post
        }
    }

    /// The path, with the query, in its one spelling.
    var path: String {
        switch self {
        case .accounts(after: nil): "/accounts"
        case .accounts(let handle?): "/accounts?after=\(handle)"
        case .account(let handle, .show): "/accounts/\(handle)"
        case .account(let handle, let act): "/accounts/\(handle)/\(act.rawValue)"
        case .quota(let handle, let byteCount):
            "/accounts/\(handle)/quota?bytes=\(byteCount.map(String.init) ?? "default")"
        }
    }

    /// Reads method and path; nil: there is no such call.
    init?(method: HTTPRequest.Method, path: String) {
        guard
            let call = Self.calls(naming: Self.handle(in: path), Self.number(in: path))
                .first(where: { $0.path == path && $0.method == method })
        else { return nil }
        self = call
    }

    /// Every call about this handle.
    private static func calls(naming handle: Handle?, _ number: UInt64?) -> [AdministrationCall] {
        guard let handle else { return [.accounts(after: nil)] }
        return [.accounts(after: handle), .quota(handle, number)] + Act.allCases.map { .account(handle, $0) }
    }

    /// What stands behind the last equals sign, if that is a number.
    private static func number(in path: String) -> UInt64? {
        path.split(separator: "=").last.flatMap { UInt64($0) }
    }

    /// What stands between the path's beginning and the next slash.
    private static func handle(in path: String) -> Handle? {
        for start in ["/accounts?after=", "/accounts/"] where path.hasPrefix(start) {
            return try? Handle(
                canonical: Array(path.utf8.dropFirst(start.utf8.count).prefix { $0 != UInt8(ascii: "/") }))
        }
        return nil
    }
}
