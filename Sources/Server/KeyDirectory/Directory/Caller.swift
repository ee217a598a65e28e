// SPDX-License-Identifier: Apache-2.0

import Crypto
public import KeyTransparency
public import SignetAPI

/// An active device of an account, which signed a request that is in time. Only ``Directory/signer(of:_:)`` makes one.
///
/// Security: the request may be a repeated one; code that acts on it asks ``Directory/admit(_:)`` for the caller.
public struct Signer: Hashable, Sendable {
    /// Who it is, once the nonce is taken.
    let caller: Caller
    /// Whether the operator suspended the account: only what protects it is answered then.
    let isSuspended: Bool

    /// The account's number in this server's database, for its rate.
    public var accountID: Int64 { caller.accountID }
}

/// Who makes a request: an active device of an account. Only ``Directory/admit(_:)`` gives one out.
public struct Caller: Hashable, Sendable {
    /// The account's name.
    public let handle: Handle
    /// The device's Ed25519 key, 32 bytes.
    public let deviceKey: [UInt8]
    /// The account's number in this server's database: what logs and limits may use in place of the handle.
    public let accountID: Int64
    /// The signature by which the device made the request its own.
    public let signature: RequestSignature
    private let bodyHash: SHA256Digest

    init(handle: Handle, accountID: Int64, signature: RequestSignature, content: RequestSignature.Content) {
        self.handle = handle
        self.accountID = accountID
        self.signature = signature
        deviceKey = signature.deviceKey
        bodyHash = SHA256.hash(data: content.body)
    }

    /// Whether `body` is what the device signed.
    func signed(_ body: [UInt8]) -> Bool { SHA256.hash(data: body) == bodyHash }
}
