// SPDX-License-Identifier: Apache-2.0

/// A call of a part of the server beside the directory, such as the notes. Always POST; request and answer are
/// native messages.
public protocol PartRoute: Hashable, Sendable, CaseIterable {
    /// The path, without a query; no other route has it.
    var path: String { get }
    /// Who may call it.
    var access: PartAccess { get }
    /// Whether it protects the account that calls it, and so is answered also while the operator has suspended the account.
    var protectsAccount: Bool { get }
    /// Whether a signed request that comes again later changes nothing, whatever happened since. Of any other the server remembers that it
    /// came, for as long as it is in time.
    var isRepeatable: Bool { get }
    /// As how many requests it counts for its address.
    var cost: UInt64 { get }
    /// How long the server may keep a request before it begins to answer. A client waits that much longer for the answer.
    var longestWait: Duration { get }
    /// The longest body of a request, in bytes.
    var maximumRequestByteCount: Int { get }
    /// The longest body of an honest answer, in bytes.
    var maximumAnswerByteCount: Int { get }
}

extension PartRoute {
    /// A suspended account may not call it.
    public var protectsAccount: Bool { false }

    /// It may come again.
    public var isRepeatable: Bool { true }

    /// It is answered at once.
    public var longestWait: Duration { .zero }
}

/// Who may call a route of a part.
public enum PartAccess: Hashable, Sendable {
    /// Anyone, limited by address.
    case open
    /// An active device of an account, which signs the request: ``RequestSignature``.
    case signed
}

extension RequestSignature.Content {
    /// The content of a call of a part's route.
    public init(_ route: some PartRoute, origin: [UInt8], body: [UInt8]) {
        self.init(method: "POST", path: route.path, origin: origin, body: body)
    }
}
