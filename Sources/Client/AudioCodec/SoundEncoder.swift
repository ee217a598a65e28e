// SPDX-License-Identifier: Apache-2.0

#if canImport(COpus)
    import COpus
#endif

/// Encodes pieces of 20 ms, one after the other, with libopus.
///
/// Security: every packet has the same length, regardless of what is said. Packets whose length follows the speech
/// reveal what is said even though they are encrypted.
///
/// Spec: RFC 6716.
public final class SoundEncoder {
    #if canImport(COpus)
        private let encoder: OpaquePointer

        /// An encoder for one stream.
        ///
        /// - Throws: ``SoundCodecError/unavailable``.
        public init() throws(SoundCodecError) {
            guard let encoder = opus_encoder_create(Int32(SoundFormat.rate), 1, OPUS_APPLICATION_VOIP, nil) else {
                throw .unavailable
            }
            self.encoder = encoder
            guard signet_opus_set_constant_bitrate(encoder, SoundFormat.bitRate) == OPUS_OK else { throw .unavailable }
        }

        deinit { opus_encoder_destroy(encoder) }

        /// The packet of ``SoundFormat/sampleCount`` samples.
        ///
        /// - Throws: ``SoundCodecError/wrongSampleCount(_:)``; ``SoundCodecError/unavailable`` if libopus fails.
        public func encode(_ samples: [Int16]) throws(SoundCodecError) -> [UInt8] {
            guard samples.count == SoundFormat.sampleCount else { throw .wrongSampleCount(samples.count) }
            let capacity = SoundFormat.maximumPacketByteCount
            let packet = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                guard let start = buffer.baseAddress else { return }
                let written = opus_encode(encoder, samples, Int32(samples.count), start, Int32(capacity))
                count = max(0, Int(written))
            }
            guard !packet.isEmpty else { throw .unavailable }
            return packet
        }
    #else
        /// There is no libopus here.
        public init() throws(SoundCodecError) { throw .unavailable }

        /// There is no libopus here.
        public func encode(_ samples: [Int16]) throws(SoundCodecError) -> [UInt8] { throw .unavailable }
    #endif
}
