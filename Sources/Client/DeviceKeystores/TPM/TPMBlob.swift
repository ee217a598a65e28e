// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
import SignetClient

/// A key or secret that the chip has wrapped.
///
/// Wire form: `signet-tpm/v1` LF; u8 kind (0 for a secret); u16 length and public part, u16 length and private part, both
/// as the chip gave them (TPM2B_PUBLIC, TPM2B_PRIVATE).
///
/// Spec: Trusted Platform Module Library, part 2, sections 12.2 and 12.3.
struct TPMBlob: Hashable, Sendable {
    static let maximumByteCount = 4096
    static let suffix = ".tpm"
    private static let format = Array("signet-tpm/v1\n".utf8)

    /// nil for a secret.
    let kind: PrivateKeyKind?
    let publicPart: [UInt8]
    let privatePart: [UInt8]

    /// The public key, 33 bytes. A public part of P-256 ends in both coordinates, each of 32 bytes behind its length.
    var publicKey: [UInt8]? {
        let end = Array(publicPart.suffix(68))
        guard end.count == 68, end[..<2] == [0, 32], end[34..<36] == [0, 32] else { return nil }
        let point = Array(end[2..<34] + end[36...])
        return (try? P256.Signing.PublicKey(rawRepresentation: point)).map { Array($0.compressedRepresentation) }
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(kind?.rawValue ?? 0)
        for part in [publicPart, privatePart] {
            writer.write(UInt16(part.count))
            writer.write(part)
        }
        return writer.bytes
    }

    init(kind: PrivateKeyKind?, publicPart: [UInt8], privatePart: [UInt8]) {
        self.kind = kind
        self.publicPart = publicPart
        self.privatePart = privatePart
    }

    init(decoding bytes: [UInt8]) throws(CanonicalCodingError) {
        var reader = ByteReader(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
            throw .invalidCharacter(offset: 0)
        }
        let number = try reader.uint8()
        kind = PrivateKeyKind(rawValue: number)
        guard number == 0 || kind != nil else { throw .invalidCharacter(offset: reader.offset) }
        publicPart = Array(try reader.bytes(Int(reader.uint16())))
        privatePart = Array(try reader.bytes(Int(reader.uint16())))
        try reader.end()
    }
}

extension TPMBlob {
    static func file(in folder: String, named name: String) -> DurableFile {
        DurableFile(path: "\(folder)/\(name)\(suffix)")
    }

    /// The blob in a file; nil if there is no such file.
    init?(in file: DurableFile) throws(PrivateKeyStoreError) {
        guard file.exists else { return nil }
        let bytes: [UInt8]
        do { bytes = try file.read(maximumByteCount: Self.maximumByteCount) } catch { throw .unavailable }
        do { try self.init(decoding: bytes) } catch { throw .damaged }
    }

    func create(in file: DurableFile) throws(PrivateKeyStoreError) {
        do { try file.create(encoded) } catch { throw error == .exists ? .nameTaken : .unavailable }
    }
}
