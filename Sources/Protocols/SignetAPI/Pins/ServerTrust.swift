// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import KeyPinning
import KeyTransparency
public import TransparencyLog

/// By what a client knows a directory's server: who certifies its TLS key, which keys those may be, who names others when all of
/// them are lost, and whether a client with a proxy in its settings may connect.
///
/// ```
/// tls-root <base64 of the DER of a CA certificate>
/// tls-pin leaf sha256/<base64 of 32 bytes>
/// tls-backup leaf sha256/<base64 of 32 bytes>
/// tls-recovery example.org/signet/recovery+3c4d5e6f+AXE...
/// tls-proxies refuse
/// ```
public struct ServerTrust: Hashable, Sendable {
    /// The only CA certificate that may vouch for the server, DER.
    public let root: [UInt8]
    /// The keys of which one must be on the server's certificate path.
    public let pins: [Pin]
    /// The Ed25519 key, kept away from the server, whose signature brings pins to clients that reach no server any more; nil for
    /// none.
    public let recoveryKey: VerifierKey?
    /// What a proxy in the device's settings changes.
    public let proxies: PinPolicy.ProxyRule

    /// Such trust.
    public init(
        root: [UInt8], pins: [Pin], recoveryKey: VerifierKey? = nil, proxies: PinPolicy.ProxyRule = .record
    ) {
        self.root = root
        self.pins = pins
        self.recoveryKey = recoveryKey
        self.proxies = proxies
    }

    /// The same trust with some parts replaced; those that are nil stay as they are.
    package func with(
        root: [UInt8]? = nil, pins: [Pin]? = nil, recoveryKey: VerifierKey? = nil, proxies: PinPolicy.ProxyRule? = nil
    ) -> ServerTrust {
        ServerTrust(
            root: root ?? self.root, pins: pins ?? self.pins, recoveryKey: recoveryKey ?? self.recoveryKey,
            proxies: proxies ?? self.proxies)
    }

    /// Appends its lines.
    func write(to writer: inout ByteWriter) {
        writer.write("tls-root", Base64.encode(root))
        for pin in pins { writer.write(pin.isBackup ? "tls-backup" : "tls-pin", pin.text) }
        if let recoveryKey { writer.write("tls-recovery", recoveryKey.encoded) }
        if proxies == .refuse { writer.write("tls-proxies", proxies.word) }
    }

    /// Reads its lines from within a file.
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
        var proxies = PinPolicy.ProxyRule.record
        if reader.hasNext("tls-proxies") {
            // The default has no line, so that each trust has one text.
            guard try reader.value(of: "tls-proxies") == PinPolicy.ProxyRule.refuse.word[...] else {
                throw .invalidLine("tls-proxies")
            }
            proxies = .refuse
        }
        self.init(root: root, pins: pins, recoveryKey: recoveryKey, proxies: proxies)
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
    func hasNext(_ name: String) -> Bool { hasLine(beginning: name + " ") }

    /// The value of the next line, which must have this name.
    mutating func value(of name: String) throws(DirectoryProfileError) -> ArraySlice<UInt8> {
        guard let value = line(named: name) else { throw .invalidLine(name) }
        return value
    }
}
