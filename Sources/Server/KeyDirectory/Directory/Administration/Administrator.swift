// SPDX-License-Identifier: Apache-2.0

/// Whose process asked for something that an operator may do.
public struct Administrator: Hashable, Sendable {
    /// The process's user, as the kernel of the server's machine says it.
    public let userID: UInt32
    /// The name that the machine had for this user then; nil if it had none.
    public let userName: String?
    /// For whom the process says that it acts, such as the person who used `sudo`; nil if it says nothing.
    ///
    /// Security: this is what the process says of itself, and nothing shows that it is true.
    public let claim: String?

    /// - Parameters:
    ///   - userName: of this, and of the claim, ``plain(_:)`` is kept.
    public init(userID: UInt32, userName: String? = nil, claim: String? = nil) {
        self.userID = userID
        self.userName = userName.flatMap(Self.plain)
        self.claim = claim.flatMap(Self.plain)
    }

    /// A name in at most 64 characters of ASCII that can be printed, without spaces; `?` is in the place of others. Nil for an empty one.
    public static func plain(_ name: String) -> String? {
        guard !name.isEmpty else { return nil }
        return String(name.unicodeScalars.prefix(64).map { (0x21...0x7E).contains($0.value) ? Character($0) : "?" })
    }
}
