import CanonicalCoding
public import KeyTransparency

/// What the log holds of a recovery under way: that there is one, and since when, or that it was stopped.
///
/// ```
/// kt-recovery/v1
/// <base64 of the 32-byte label index>
/// start
/// <base64 of the 32-byte hash of the request>
/// <when the time for objections ends, in seconds since 1970>
/// <when the request expires>
/// ```
/// A stop has `cancel` in the third line and ends after the fourth. No name, no number of guardians, no key.
public enum RecoveryLogEntry: Hashable, Sendable {
    /// A recovery begins. Shares may be released from `notBefore` to `expires`.
    case start(LabelIndex, request: [UInt8], notBefore: UInt64, expires: UInt64)
    /// One of the owner's devices objects.
    case cancel(LabelIndex, request: [UInt8])

    private static let format = Array("kt-recovery/v1".utf8)

    /// Whose.
    public var label: LabelIndex {
        switch self {
        case .start(let label, _, _, _), .cancel(let label, _): label
        }
    }

    /// The raw log entry.
    public var entry: [UInt8] {
        var lines = [Self.format, Base64.encode(label.bytes)]
        switch self {
        case .start(_, let request, let notBefore, let expires):
            lines += [Array("start".utf8), Base64.encode(request), Decimal.encode(notBefore), Decimal.encode(expires)]
        case .cancel(_, let request): lines += [Array("cancel".utf8), Base64.encode(request)]
        }
        return lines.flatMap { $0 + [UInt8(ascii: "\n")] }
    }

    /// Reads a raw log entry.
    ///
    /// - Throws: ``RecoveryFormatError``: not exactly what ``entry`` prints.
    public init(decoding entry: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(entry, "kt-recovery/v1\n") { reader in
            guard let label = LabelIndex(try Base64.decode(reader.line(maximumLength: 44))) else {
                throw RecoveryFormatError.invalidField
            }
            let word = try reader.line(maximumLength: 6)
            let request = try Base64.decode(reader.line(maximumLength: 44))
            guard request.count == 32 else { throw RecoveryFormatError.invalidField }
            if word.elementsEqual("cancel".utf8) { return .cancel(label, request: request) }
            guard word.elementsEqual("start".utf8) else { throw RecoveryFormatError.invalidField }
            let notBefore = try Decimal.decode(reader.line(maximumLength: 20))
            let expires = try Decimal.decode(reader.line(maximumLength: 20))
            guard notBefore < expires else { throw RecoveryFormatError.invalidField }
            return .start(label, request: request, notBefore: notBefore, expires: expires)
        }
    }
}
