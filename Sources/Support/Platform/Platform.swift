// SPDX-License-Identifier: Apache-2.0

// The C library has a different name on each system. Importing this module gives a file its functions and types on all
// of them.
#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Darwin)
    @_exported public import Darwin
#endif
