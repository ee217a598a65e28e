import CanonicalCoding
public import KeyPinning
public import KeyTransparency
public import TransparencyLog
import VRF

/// The file by which a client comes to trust a directory: where it is, who certifies its TLS key, and
/// everything in `DirectoryTrust`. It is handed over out of band, never fetched.
///
/// ```
/// signet-directory/v1
/// url https://localhost:8443
/// tls-root <base64 of the DER of a CA certificate>
/// tls-pin leaf sha256/<base64 of 32 bytes>
/// tls-backup leaf sha256/<base64 of 32 bytes>
/// vrf <base64 of 32 bytes>
/// maximum-age 86400
///
/// log example.org/signet+1a2b3c4d+AXE...
/// witness clock example.org/signet/clock+5e6f7a8b+BHo...
/// quorum clock
/// ```
/// `tls-pin` names a key that the server uses, `tls-backup` one in reserve; the tier is `any`, `root`, `intermediate` or
/// `leaf`. A file without pins can be read, and no client connects with it. After the empty line comes a C2SP tlog-policy.
public struct DirectoryProfile: Hashable, Sendable {
    /// No profile is longer, in bytes.
    public static let maximumByteCount = 65_536

    /// `https://host[:port]`, ASCII, no path.
    public let url: String
    /// The only CA certificate that may vouch for the server, DER.
    public let tlsRoot: [UInt8]
    /// The keys of which one must be on the server's certificate path.
    public let pins: [Pin]
    /// What is pinned about the directory.
    public let trust: DirectoryTrust

    /// A profile.
    public init(url: String, tlsRoot: [UInt8], pins: [Pin], trust: DirectoryTrust) {
        self.url = url
        self.tlsRoot = tlsRoot
        self.pins = pins
        self.trust = trust
    }

    /// The profile after changes of the directory's keys.
    public func following(_ succession: VerifiedSuccession) -> DirectoryProfile {
        DirectoryProfile(url: url, tlsRoot: tlsRoot, pins: pins, trust: succession.trust)
    }

    /// The file.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        var lines = [("url", Array(url.utf8)), ("tls-root", Base64.encode(tlsRoot))]
        lines += pins.map { ($0.isBackup ? "tls-backup" : "tls-pin", $0.text) }
        lines += [
            ("vrf", Base64.encode(trust.vrfKey.bytes)),
            ("maximum-age", Decimal.encode(trust.freshness.maximumAge)),
        ]
        for (name, value) in lines {
            writer.write(Array(name.utf8) + [UInt8(ascii: " ")] + value + [UInt8(ascii: "\n")])
        }
        writer.write(UInt8(ascii: "\n"))
        writer.write(trust.policy.encoded)
        return writer.bytes
    }

    /// Reads a file.
    ///
    /// - Throws: ``DirectoryProfileError``: says which line to correct.
    public init(decoding bytes: [UInt8]) throws(DirectoryProfileError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        guard bytes.starts(with: Self.format) else { throw .unknownFormat }
        var reader = ByteReader(bytes.dropFirst(Self.format.count))
        let url = String(decoding: try reader.value(of: "url"), as: UTF8.self)
        guard url.hasPrefix("https://"), url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalidLine("url")
        }
        let rootText = try reader.value(of: "tls-root")
        var pins: [Pin] = []
        while let name = ["tls-pin", "tls-backup"].first(where: { reader.hasNext($0) }) {
            guard pins.count < PinRule.maximumPinCount,
                let pin = try? Pin(reader.value(of: name), isBackup: name != "tls-pin")
            else { throw .invalidLine(name) }
            pins.append(pin)
        }
        let keyText = try reader.value(of: "vrf")
        let ageText = try reader.value(of: "maximum-age")
        guard let tlsRoot = try? Base64.decode(rootText) else { throw .invalidLine("tls-root") }
        guard let vrfKey = try? VRFPublicKey(Base64.decode(keyText)) else { throw .invalidLine("vrf") }
        guard let maximumAge = try? Decimal.decode(ageText) else { throw .invalidLine("maximum-age") }
        guard (try? reader.line(maximumLength: 0)) != nil else { throw .policyMissing }
        let policy: Policy
        do { policy = try Policy(decoding: Array(reader.rest())) } catch { throw .policy(error) }
        let standard = FreshnessRule.standard
        self.init(
            url: url, tlsRoot: tlsRoot, pins: pins,
            trust: DirectoryTrust(
                policy: policy, vrfKey: vrfKey,
                freshness: FreshnessRule(
                    maximumAge: maximumAge, warningAge: min(standard.warningAge, maximumAge),
                    clockSkew: standard.clockSkew)))
    }

    private static let format = Array("signet-directory/v1\n".utf8)
}

/// Why a directory file cannot be used. The file has to be corrected or fetched anew from its source.
public enum DirectoryProfileError: Error, Hashable, Sendable {
    /// Its first line is not `signet-directory/v1`.
    case unknownFormat
    /// More than ``DirectoryProfile/maximumByteCount`` bytes.
    case tooLong(Int)
    /// The line of this name is missing, out of order or malformed.
    case invalidLine(String)
    /// No empty line and policy after the named lines.
    case policyMissing
    /// The policy is malformed.
    case policy(PolicyError)

}

extension ByteReader {
    /// Whether the next line has this name.
    fileprivate func hasNext(_ name: String) -> Bool {
        var copy = self
        return copy.rest().starts(with: Array(name.utf8) + [UInt8(ascii: " ")])
    }

    fileprivate mutating func value(of name: String) throws(DirectoryProfileError) -> ArraySlice<UInt8> {
        let prefix = Array(name.utf8) + [UInt8(ascii: " ")]
        guard let line = try? line(maximumLength: 16_384), line.starts(with: prefix) else {
            throw .invalidLine(name)
        }
        return line.dropFirst(prefix.count)
    }
}
