// SPDX-License-Identifier: Apache-2.0

/// The first four bytes of a secure message, little-endian.
enum MessageType: UInt32 {
    case rsaSigned = 0x2604_2610
    case ecSigned = 0x2604_2620
    case rsaEncrypted = 0x2604_2710
    case ecEncrypted = 0x2604_2720
}
