// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a usable VRF key, or why no key could be made.
public enum VRFKeyError: Error, Hashable, Sendable {
    /// A key is exactly 32 bytes; this is how many there were.
    case invalidLength(Int)
    /// A public key that is not the one canonical encoding of a ristretto255 element.
    case invalidEncoding
    /// A public key that is the identity element: every output under it would be public.
    case identity
    /// A secret scalar of zero.
    case scalarIsZero
    /// A secret scalar that is not below the group order.
    case scalarNotCanonical
    /// libsodium could not start or gave no memory; the only case worth a retry.
    case sodiumUnavailable
}
