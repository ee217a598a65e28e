// A stand-in for the part of Apple's Foundation that the adapter uses, for checking types on another system.
@_exported import Security

open class NSObject { public init() {} }
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
open class URLSession: @unchecked Sendable {
    public enum AuthChallengeDisposition: Int, Sendable {
        case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
    }
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue: OperationQueue?
    ) {}
}
open class URLSessionConfiguration: @unchecked Sendable {}
open class OperationQueue: @unchecked Sendable {}
open class URLProtectionSpace {
    public var authenticationMethod: String { "" }
    public var host: String { "" }
    public var serverTrust: SecTrust? { nil }
}
open class URLAuthenticationChallenge { public var protectionSpace: URLProtectionSpace { URLProtectionSpace() } }
open class URLCredential: @unchecked Sendable { public init(trust: SecTrust) {} }
public protocol URLSessionDelegate: Sendable {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}
public protocol URLSessionTaskDelegate: URLSessionDelegate {}
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {}
