// SPDX-License-Identifier: Apache-2.0

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
/// tls-recovery example.org/signet/recovery+3c4d5e6f+AXE...
/// tls-proxies refuse
/// tls-version 2 <base64 of 32 bytes>
/// vrf <base64 of 32 bytes>
/// maximum-age 86400
///
/// log example.org/signet+1a2b3c4d+AXE...
/// witness clock example.org/signet/clock+5e6f7a8b+BHo...
/// quorum clock
/// ```
/// `tls-pin` names a key that the server uses, `tls-backup` one in reserve; the tier is `any`, `root`, `intermediate` or
/// `leaf`. A file without pins can be read, and no client connects with it. `tls-recovery`, `tls-proxies` and
/// `tls-version` may be missing: ``ServerTrust/recoveryKey``, ``ServerTrust/proxies``, and ``PinsMark``: which ``DirectoryPins``
/// these are. After the empty line comes a C2SP tlog-policy.
public struct DirectoryProfile: Hashable, Sendable {
    /// No profile is longer, in bytes.
    public static let maximumByteCount = 65_536

    /// `https://host[:port]`, ASCII, no path.
    public let url: String
    /// By what the server is known.
    public let server: ServerTrust
    /// Which of the directory's logged pins ``server`` is; nil for none.
    public let mark: PinsMark?
    /// What is pinned about the directory.
    public let trust: DirectoryTrust

    /// The only CA certificate that may vouch for the server, DER.
    public var tlsRoot: [UInt8] { server.root }
    /// The keys of which one must be on the server's certificate path.
    public var pins: [Pin] { server.pins }

    /// A profile.
    public init(url: String, server: ServerTrust, mark: PinsMark? = nil, trust: DirectoryTrust) {
        self.url = url
        self.server = server
        self.mark = mark
        self.trust = trust
    }

    /// A profile whose pins were never logged.
    public init(url: String, tlsRoot: [UInt8], pins: [Pin], trust: DirectoryTrust) {
        self.init(url: url, server: ServerTrust(root: tlsRoot, pins: pins), trust: trust)
    }

    /// The profile under another trust in the log.
    public func trusting(_ trust: DirectoryTrust) -> DirectoryProfile {
        DirectoryProfile(url: url, server: server, mark: mark, trust: trust)
    }

    /// The profile after changes of the directory's keys. Another log counts the versions of its pins from the
    /// beginning.
    public func following(_ succession: VerifiedSuccession) -> DirectoryProfile {
        let isSameLog = trust.policy.logs.map(\.name) == succession.trust.policy.logs.map(\.name)
        return DirectoryProfile(url: url, server: server, mark: isSameLog ? mark : nil, trust: succession.trust)
    }

    /// The profile with other pins.
    public func following(_ pins: DirectoryPins) -> DirectoryProfile {
        DirectoryProfile(url: url, server: pins.server, mark: pins.mark, trust: trust)
    }

    /// The file.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(DirectoryTrust.fileFormat)
        writer.write("url", Array(url.utf8))
        server.write(to: &writer)
        if let mark { writer.write("tls-version", mark.text) }
        writer.write("vrf", Base64.encode(trust.vrfKey.bytes))
        writer.write("maximum-age", Decimal.encode(trust.freshness.maximumAge))
        writer.write(UInt8(ascii: "\n"))
        writer.write(trust.policy.encoded)
        return writer.bytes
    }

    /// Reads a file.
    ///
    /// - Throws: ``DirectoryProfileError``: says which line to correct.
    public init(decoding bytes: [UInt8]) throws(DirectoryProfileError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        guard bytes.starts(with: DirectoryTrust.fileFormat) else { throw .unknownFormat }
        var reader = ByteReader(bytes.dropFirst(DirectoryTrust.fileFormat.count))
        let url = String(decoding: try reader.value(of: "url"), as: UTF8.self)
        guard url.hasPrefix("https://"), url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalidLine("url")
        }
        let server = try ServerTrust(from: &reader)
        var mark: PinsMark?
        if reader.hasNext("tls-version") {
            guard let read = PinsMark(text: try reader.value(of: "tls-version")) else {
                throw .invalidLine("tls-version")
            }
            mark = read
        }
        let trust: DirectoryTrust
        do throws(DirectoryTrustError) { trust = try DirectoryTrust(from: &reader) } catch {
            switch error {
            case .invalidLine(let name): throw .invalidLine(name)
            case .policyMissing: throw .policyMissing
            case .policy(let fault): throw .policy(fault)
            }
        }
        self.init(url: url, server: server, mark: mark, trust: trust)
    }
}

/// Why a directory file cannot be used. The file has to be corrected or fetched again from its source.
public enum DirectoryProfileError: Error, Hashable, Sendable {
    /// Its first line is not `signet-directory/v1`.
    case unknownFormat
    /// More than ``DirectoryProfile/maximumByteCount`` bytes.
    case tooLong(Int)
    /// The line of this name is missing, out of order or malformed.
    case invalidLine(String)
    /// Something follows where the file should end.
    case bytesLeft
    /// No empty line and policy after the named lines.
    case policyMissing
    /// The policy is malformed.
    case policy(PolicyError)

}
