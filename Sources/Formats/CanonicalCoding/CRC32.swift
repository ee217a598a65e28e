// SPDX-License-Identifier: Apache-2.0

/// The checksum of PNG pictures and ZIP archives. It finds accidents, not attacks.
///
/// Spec: PNG (W3C Recommendation, third edition), annex D; APPNOTE.TXT 6.3.10, section 4.4.7.
public enum CRC32 {
    /// The checksum of some bytes.
    public static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { rest, _ in rest >> 1 ^ (rest & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
