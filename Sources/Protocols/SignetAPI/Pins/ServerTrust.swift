import CanonicalCoding
public import KeyPinning
public import TransparencyLog

/// By what a client knows a directory's server: who certifies its TLS key, which keys those may be, and who names others when
/// all of them are lost.
///
/// ```
/// tls-root <base64 of the DER of a CA certificate>
/// tls-pin leaf sha256/<base64 of 32 bytes>
/// tls-backup leaf sha256/<base64 of 32 bytes>
/// tls-recovery example.org/signet/recovery+3c4d5e6f+AXE...
/// ```
public struct ServerTrust: Hashable, Sendable {
    /// The only CA certificate that may vouch for the server, DER.
    public let root: [UInt8]
    /// The keys of which one must be on the server's certificate path.
    public let pins: [Pin]
    /// The Ed25519 key, kept away from the server, whose signature brings pins to clients that reach no server any more; nil for
    /// none.
    public let recoveryKey: VerifierKey?

    /// Such trust.
    public init(root: [UInt8], pins: [Pin], recoveryKey: VerifierKey? = nil) {
        self.root = root
        self.pins = pins
        self.recoveryKey = recoveryKey
    }

    /// Appends its lines.
    func write(to writer: inout ByteWriter) {
        writer.write("tls-root", Base64.encode(root))
        for pin in pins { writer.write(pin.isBackup ? "tls-backup" : "tls-pin", pin.text) }
        if let recoveryKey { writer.write("tls-recovery", recoveryKey.encoded) }
    }

    /// Reads its lines where they stand in a file.
    init(from reader: inout ByteReader) throws(DirectoryProfileError) {
        guard let root = try? Base64.decode(reader.value(of: "tls-root")) else { throw .invalidLine("tls-root") }
        var pins: [Pin] = []
        while let name = ["tls-pin", "tls-backup"].first(where: { reader.hasNext($0) }) {
            guard pins.count < PinRule.maximumPinCount,
                let pin = try? Pin(reader.value(of: name), isBackup: name != "tls-pin")
            else { throw .invalidLine(name) }
            pins.append(pin)
        }
        var recoveryKey: VerifierKey?
        if reader.hasNext("tls-recovery") {
            guard let key = try? VerifierKey(decoding: Array(reader.value(of: "tls-recovery"))),
                key.algorithm == .ed25519
            else { throw .invalidLine("tls-recovery") }
            recoveryKey = key
        }
        self.init(root: root, pins: pins, recoveryKey: recoveryKey)
    }
}

extension ByteWriter {
    /// Appends a line: a name, a space and a value.
    mutating func write(_ name: StaticString, _ value: [UInt8]) {
        write(name)
        write(UInt8(ascii: " "))
        write(value)
        write(UInt8(ascii: "\n"))
    }
}

extension ByteReader {
    /// Whether the next line has this name.
    func hasNext(_ name: String) -> Bool {
        var copy = self
        return copy.rest().starts(with: Array(name.utf8) + [UInt8(ascii: " ")])
    }

    /// The value of the next line, which must have this name.
    mutating func value(of name: String) throws(DirectoryProfileError) -> ArraySlice<UInt8> {
        let prefix = Array(name.utf8) + [UInt8(ascii: " ")]
        guard let line = try? line(maximumLength: 16_384), line.starts(with: prefix) else {
            throw .invalidLine(name)
        }
        return line.dropFirst(prefix.count)
    }
}
