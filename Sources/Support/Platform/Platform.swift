// SPDX-License-Identifier: Apache-2.0

// The C library of the system, whatever it is called there: with this import a file has its functions and types.
#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Darwin)
    @_exported public import Darwin
#endif
