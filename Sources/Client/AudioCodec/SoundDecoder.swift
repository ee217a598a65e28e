// SPDX-License-Identifier: Apache-2.0

#if canImport(COpus)
    import COpus
#endif

/// Decodes the packets of one stream, in their order, with libopus.
///
/// Spec: RFC 6716.
public final class SoundDecoder {
    #if canImport(COpus)
        private let decoder: OpaquePointer

        /// A decoder for one stream.
        ///
        /// - Throws: ``SoundCodecError/unavailable``.
        public init() throws(SoundCodecError) {
            guard let decoder = opus_decoder_create(Int32(SoundFormat.rate), 1, nil) else { throw .unavailable }
            self.decoder = decoder
        }

        deinit { opus_decoder_destroy(decoder) }

        /// The samples of a packet, at most ``SoundFormat/maximumPacketSampleCount``.
        ///
        /// - Throws: ``SoundCodecError/wrongByteCount(_:)``, ``SoundCodecError/malformed``.
        public func decode(_ packet: [UInt8]) throws(SoundCodecError) -> [Int16] {
            guard (1...SoundFormat.maximumPacketByteCount).contains(packet.count) else {
                throw .wrongByteCount(packet.count)
            }
            return try read(packet, capacity: SoundFormat.maximumPacketSampleCount)
        }

        /// A piece in the place of one that is missing: what was heard last, fading.
        ///
        /// - Throws: ``SoundCodecError/malformed`` if libopus fails.
        public func conceal() throws(SoundCodecError) -> [Int16] {
            try read(nil, capacity: SoundFormat.sampleCount)
        }

        private func read(_ packet: [UInt8]?, capacity: Int) throws(SoundCodecError) -> [Int16] {
            var status: Int32 = 0
            let samples = [Int16](unsafeUninitializedCapacity: capacity) { buffer, count in
                guard let start = buffer.baseAddress else { return }
                status = opus_decode(decoder, packet, Int32(packet?.count ?? 0), start, Int32(capacity), 0)
                count = min(capacity, max(0, Int(status)))
            }
            guard status > 0 else { throw .malformed }
            return samples
        }
    #else
        /// There is no libopus here.
        public init() throws(SoundCodecError) { throw .unavailable }

        /// There is no libopus here.
        public func decode(_ packet: [UInt8]) throws(SoundCodecError) -> [Int16] { throw .unavailable }

        /// There is no libopus here.
        public func conceal() throws(SoundCodecError) -> [Int16] { throw .unavailable }
    #endif
}
