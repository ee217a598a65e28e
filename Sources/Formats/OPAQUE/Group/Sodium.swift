// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import CSodium

    /// libsodium, started once for the process. True when it is ready.
    let sodiumIsReady: Bool = sodium_init() >= 0
#endif
