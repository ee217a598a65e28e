// SPDX-License-Identifier: Apache-2.0

/// Everything of a cell but the ciphertext: 44 bytes under a key, 70 under a passphrase.
///
/// Wire form, little-endian: u32 algorithm, u32 IV length (12), u32 tag length (16), u32 message length; under a
/// passphrase u32 length of its parameters (22); IV; tag; parameters.
struct CellHeader {
    static let ivByteCount = 12
    static let tagByteCount = 16

    var algorithm: CellAlgorithm
    var messageLength: UInt32
    var iv: ArraySlice<UInt8>
    var tag: ArraySlice<UInt8>
    var parameters: PassphraseParameters?

    /// Reads a whole cell: the ciphertext is its last `messageLength` bytes, the header everything before.
    static func split(
        _ cell: [UInt8], _ emitted: CellAlgorithm, _ reading: ReadingMode
    ) throws(CellError) -> (CellHeader, ArraySlice<UInt8>) {
        guard let length = messageLength(of: cell[...]), Int(length) < cell.count else {
            throw .malformed(.messageLength)
        }
        let (token, body) = (cell.dropLast(Int(length)), cell.suffix(Int(length)))
        return (try CellHeader(token, emitted, reading), body)
    }

    /// Reads a header that stands alone.
    init(_ token: ArraySlice<UInt8>, _ emitted: CellAlgorithm, _ reading: ReadingMode) throws(CellError) {
        var reader = LittleEndianReader(token)
        guard let identifier = reader.uint32() else { throw .malformed(.algorithm) }
        algorithm = CellAlgorithm(identifier: identifier)
        guard algorithm.isAccepted(as: emitted, reading) else { throw .malformed(.algorithm) }
        guard let ivLength = reader.uint32() else { throw .malformed(.iv) }
        guard let tagLength = reader.uint32() else { throw .malformed(.tag) }
        guard let length = reader.uint32(), length > 0 else { throw .malformed(.messageLength) }
        messageLength = length
        let parametersLength = emitted == .passphrase ? reader.uint32() : 0
        guard let parametersLength else { throw .malformed(.passphraseParameters) }
        iv = try Self.field(&reader, ivLength, Self.ivByteCount, .iv, reading)
        tag = try Self.field(&reader, tagLength, Self.tagByteCount, .tag, reading)
        if emitted == .passphrase { parameters = try PassphraseParameters(&reader, parametersLength, reading) }
        guard reading == .compatible || reader.rest.isEmpty else { throw .malformed(.surplus) }
    }

    init(
        algorithm: CellAlgorithm, messageLength: UInt32, iv: ArraySlice<UInt8>, tag: ArraySlice<UInt8>,
        parameters: PassphraseParameters?
    ) {
        self.algorithm = algorithm
        self.messageLength = messageLength
        self.iv = iv
        self.tag = tag
        self.parameters = parameters
    }

    /// How many bytes the wire form has.
    static func byteCount(_ parameters: PassphraseParameters?) -> Int {
        16 + ivByteCount + tagByteCount + (parameters.map { 4 + $0.byteCount } ?? 0)
    }

    /// The wire form.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount(parameters))
        bytes.appendLittleEndian(algorithm.identifier)
        bytes.appendLittleEndian(UInt32(Self.ivByteCount))
        bytes.appendLittleEndian(UInt32(Self.tagByteCount))
        bytes.appendLittleEndian(messageLength)
        if let parameters { bytes.appendLittleEndian(UInt32(parameters.byteCount)) }
        bytes.append(contentsOf: iv)
        bytes.append(contentsOf: tag)
        if let parameters { parameters.append(to: &bytes) }
        return bytes
    }

    private static func messageLength(of cell: ArraySlice<UInt8>) -> UInt32? {
        var reader = LittleEndianReader(cell.dropFirst(12))
        return reader.uint32()
    }

    /// A field whose first `used` bytes count. Themis reads longer ones and looks at no byte of the rest.
    private static func field(
        _ reader: inout LittleEndianReader, _ length: UInt32, _ used: Int, _ part: CellPart, _ reading: ReadingMode
    ) throws(CellError) -> ArraySlice<UInt8> {
        let isAccepted = reading == .strict ? Int(length) == used : Int(length) >= used
        guard isAccepted, let bytes = reader.bytes(Int(length)) else { throw .malformed(part) }
        return bytes.prefix(used)
    }
}
