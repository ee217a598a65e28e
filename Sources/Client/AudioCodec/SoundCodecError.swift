// SPDX-License-Identifier: Apache-2.0

/// Why sound is not encoded or decoded.
public enum SoundCodecError: Error, Hashable, Sendable {
    /// This program has no libopus, or there is no memory for it.
    case unavailable
    /// Not a piece of 20 ms, but so many samples.
    case wrongSampleCount(Int)
    /// A packet of so many bytes: none, or more than ``SoundFormat/maximumPacketByteCount``.
    case wrongByteCount(Int)
    /// Not a packet of Opus.
    case malformed
}
