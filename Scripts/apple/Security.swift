// A stand-in for Apple's module, for checking types on another system: declarations as Apple's documentation has them.
public final class SecTrust {}
public final class SecPolicy {}
public final class SecCertificate {}
public final class CFString {}
public final class CFArray {}
public final class CFData {}
public final class CFError {}
public final class CFAllocator {}
public typealias OSStatus = Int32
public typealias CFIndex = Int
public typealias CFStringEncoding = UInt32
public enum CFStringBuiltInEncodings: CFStringEncoding { case UTF8 = 0x0800_0100 }
public let errSecSuccess: OSStatus = 0
public func CFStringCreateWithCString(
    _ allocator: CFAllocator?, _ text: UnsafePointer<CChar>, _ encoding: CFStringEncoding
) -> CFString? { nil }
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy { SecPolicy() }
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: SecPolicy) -> OSStatus { 0 }
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }
public func CFArrayGetCount(_ array: CFArray) -> CFIndex { 0 }
public func CFArrayGetValueAtIndex(_ array: CFArray, _ index: CFIndex) -> UnsafeRawPointer? { nil }
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { CFData() }
public func CFDataGetLength(_ data: CFData) -> CFIndex { 0 }
public func CFDataGetBytePtr(_ data: CFData) -> UnsafePointer<UInt8>? { nil }
