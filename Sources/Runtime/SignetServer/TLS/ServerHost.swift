import NIOCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A name or an address under which clients reach the server.
public enum ServerHost: Hashable, Sendable {
    /// A DNS name.
    case name(String)
    /// An IP address: 4 or 16 bytes.
    case address([UInt8])

    /// Reads a name or the text of an address; nil if it is neither.
    public init?(_ text: String) {
        if let address = try? SocketAddress(ipAddress: text, port: 0) {
            switch address {
            case .v4(let address):
                self = .address(withUnsafeBytes(of: address.address.sin_addr) { Array($0) })
            case .v6(let address):
                self = .address(withUnsafeBytes(of: address.address.sin6_addr) { Array($0) })
            default: return nil
            }
            return
        }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, labels.allSatisfy(Self.isLabel) else { return nil }
        self = .name(text)
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
            && label.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-")
            }
    }
}
