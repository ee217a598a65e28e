// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

// What makes states. A browser's module, which only verifies, is built without it.

extension AccountState {
    /// Signs a state.
    ///
    /// - Parameter sign: gives the 64-byte r || s signature of the identity key over the bytes passed.
    /// - Throws: ``AccountStateError``: a field out of bounds, or the signature does not verify under
    ///   the identity key of `body`. Any error that `sign` throws becomes `AccountStateError/signingFailed`.
    public init(
        signing body: AccountStateBody, with sign: ([UInt8]) throws -> [UInt8]
    ) throws(AccountStateError) {
        try body.check()
        let unsigned = body.encoded
        let signature: [UInt8]
        do { signature = AccountSignature.low(try sign(unsigned)) } catch { throw .signingFailed }
        guard signature.count == 64,
            AccountSignature.isValid(signature, over: unsigned[...], by: body.identityKey)
        else { throw .invalidSignature }
        self.init(body, step: .ordinary, signature: signature, encoded: unsigned + signature)
    }
}
