// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    /// Why no proof could be made.
    public enum VRFProvingError: Error, Hashable, Sendable {
        /// The input mapped to the identity or the nonce came out as zero. Such an input cannot be found, so this is a
        /// sign of broken memory or a broken library.
        case degenerate
    }
#endif
