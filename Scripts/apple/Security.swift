// A stand-in for Apple's module, for checking types on another system: declarations as Apple's documentation has them.
public final class SecTrust {}
public final class SecPolicy {}
public final class SecCertificate {}
public typealias CFString = String
public final class CFArray {}
public typealias CFDictionary = [String: Any]
public typealias CFTypeRef = AnyObject
public typealias CFTypeID = UInt
public typealias CFData = Data
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
public func CFGetTypeID(_ value: CFTypeRef) -> CFTypeID { 0 }
public func CFDataGetBytePtr(_ data: CFData) -> UnsafePointer<UInt8>? { nil }

// Bytes, which Foundation has on every system; here so that this module needs no other.
public struct Data: RangeReplaceableCollection, Sendable {
    public init() {}
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(position: Int) -> UInt8 { 0 }
    public func index(after position: Int) -> Int { position + 1 }
    public mutating func replaceSubrange(_ range: Range<Int>, with bytes: some Collection<UInt8>) {}
}

// Keys and items.
public final class SecKey {}
public final class SecAccessControl {}
public struct SecKeyAlgorithm: Sendable {
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm()
    public static let ecdhKeyExchangeStandard = SecKeyAlgorithm()
}
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: CFIndex
    public init(rawValue: CFIndex) { self.rawValue = rawValue }
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
}
public typealias ErrorPlace = UnsafeMutablePointer<CFError?>
public func SecKeyGetTypeID() -> CFTypeID { 0 }
public func SecKeyCreateRandomKey(_ parameters: CFDictionary, _ error: ErrorPlace?) -> SecKey? { nil }
public func SecKeyCreateWithData(_ data: CFData, _ attributes: CFDictionary, _ error: ErrorPlace?) -> SecKey? { nil }
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { nil }
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? { nil }
public func SecKeyCopyExternalRepresentation(_ key: SecKey, _ error: ErrorPlace?) -> CFData? { nil }
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: CFData, _ error: ErrorPlace?
) -> CFData? { nil }
public func SecKeyCopyKeyExchangeResult(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ other: SecKey, _ parameters: CFDictionary, _ error: ErrorPlace?
) -> CFData? { nil }
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags, _ error: ErrorPlace?
) -> SecAccessControl? { nil }
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
public let errSecItemNotFound: OSStatus = -25300
public let errSecDuplicateItem: OSStatus = -25299
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecUserCanceled: OSStatus = -128
public let errSecAuthFailed: OSStatus = -25293
public let errSecNotAvailable: OSStatus = -25291
public let kSecClass: CFString = ""
public let kSecClassKey: CFString = ""
public let kSecClassGenericPassword: CFString = ""
public let kSecAttrService: CFString = ""
public let kSecAttrAccount: CFString = ""
public let kSecAttrLabel: CFString = ""
public let kSecAttrKeyType: CFString = ""
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = ""
public let kSecAttrKeyClass: CFString = ""
public let kSecAttrKeyClassPublic: CFString = ""
public let kSecAttrKeySizeInBits: CFString = ""
public let kSecAttrTokenID: CFString = ""
public let kSecAttrTokenIDSecureEnclave: CFString = ""
public let kSecAttrIsPermanent: CFString = ""
public let kSecAttrApplicationTag: CFString = ""
public let kSecAttrAccessControl: CFString = ""
public let kSecPrivateKeyAttrs: CFString = ""
public let kSecValueData: CFString = ""
public let kSecReturnData: CFString = ""
public let kSecReturnRef: CFString = ""
public let kSecReturnAttributes: CFString = ""
public let kSecMatchLimit: CFString = ""
public let kSecMatchLimitAll: CFString = ""
public final class Protection: Sendable {}
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly = Protection()
