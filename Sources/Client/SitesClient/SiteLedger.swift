// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import DeviceIdentity

/// All that is remembered about a person's sites, sealed in the home folder.
///
/// Wire form before sealing, then zeros to a multiple of 4096 bytes: `signet-site-ledger/v1` LF; u32 length and
/// `SiteIdentities`; u16 count; for each, in rising order of host: u16 length, host, u32 generation of its keys, u8 1 when
/// a recovery brought back the recovery key alone and the site has to get new keys, else 0.
struct SiteLedger: Hashable, SealedLedger {
    var identities = SiteIdentities()
    /// Under which number the keystore has the keys of a host.
    var generations: [VerifiedHost: UInt32] = [:]
    /// Sites that need new keys.
    var awaiting: Set<VerifiedHost> = []

    static let format = Array("signet-site-ledger/v1\n".utf8)

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        let identities = identities.encoded
        writer.write(UInt32(identities.count))
        writer.write(identities)
        writer.write(UInt16(generations.count))
        for (host, generation) in generations.sorted(by: { $0.key.text.lexicographicallyPrecedes($1.key.text) }) {
            writer.write(UInt16(host.text.count))
            writer.write(host.text)
            writer.write(generation)
            writer.write(UInt8(awaiting.contains(host) ? 1 : 0))
        }
        return Self.padded(writer.bytes)
    }

    init(decoding bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
            throw SiteIdentityError.unknownFormat
        }
        identities = try SiteIdentities(decoding: Array(reader.bytes(Int(reader.uint32()))))
        for _ in 0..<(try reader.uint16()) {
            let host = try VerifiedHost(stored: Array(reader.bytes(Int(reader.uint16()))))
            generations[host] = try reader.uint32()
            if try reader.uint8() == 1 { awaiting.insert(host) }
        }
        guard encoded == bytes else { throw SiteIdentityError.malformed }
    }

    /// Nothing yet.
    init() {}
}
