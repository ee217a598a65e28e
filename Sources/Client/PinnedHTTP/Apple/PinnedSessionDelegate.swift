#if canImport(Security) && canImport(Darwin)
    public import Foundation
    public import KeyPinning
    import Security
    import Synchronization

    /// Pins the connections of a `URLSession`: requests and WebSocket tasks alike.
    ///
    /// Apple's verification builds the path, the policy judges it, as on every other platform. A session needs this delegate
    /// when it is made; there is no way to add one later, and none to remove it.
    ///
    /// Security: a session without a delegate is not pinned. `WKWebView` and login pages in a browser never are.
    public final class PinnedSessionDelegate: NSObject, URLSessionDelegate, URLSessionTaskDelegate,
        URLSessionWebSocketDelegate, Sendable
    {
        /// What is demanded.
        public let policy: PinPolicy
        private let clock: @Sendable () -> UInt64
        private let proxy: @Sendable (ServerName) -> ProxyState
        private let lastRefusal = Mutex<ChainRefusal?>(nil)

        /// A delegate.
        ///
        /// - Parameters:
        ///   - clock: seconds since 1970.
        ///   - proxy: what the device's settings name for a host.
        public init(
            _ policy: PinPolicy, clock: @escaping @Sendable () -> UInt64 = SystemClock.now,
            proxy: @escaping @Sendable (ServerName) -> ProxyState = { ProxySettings.ofProcess.state(for: $0) }
        ) {
            self.policy = policy
            self.clock = clock
            self.proxy = proxy
        }

        /// Why the last connection was refused: the session itself only says that it was canceled.
        public var refusal: ChainRefusal? { lastRefusal.withLock { $0 } }

        /// Answers a server's challenge: a pinned chain, or none.
        public func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust
            else { return completionHandler(.performDefaultHandling, nil) }
            do throws(ChainRefusal) {
                _ = try judge(trust, space.host)
                completionHandler(.useCredential, URLCredential(trust: trust))
            } catch {
                lastRefusal.withLock { $0 = error }
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
        }

        private func judge(_ trust: SecTrust, _ text: String) throws(ChainRefusal) -> PinVerdict {
            guard let host = try? ServerName(text.utf8) else {
                throw policy.refusal(of: .dns(Array(text.utf8)), .unknownHost)
            }
            guard let path = EvaluatedChain.certificates(of: trust, host: text) else {
                throw policy.refusal(of: host, .untrusted)
            }
            return try policy.judge(evaluated: path, for: host, at: clock(), proxy: proxy(host))
        }
    }

    extension URLSession {
        /// A session of which every connection is pinned.
        ///
        /// - Parameter policy: what is demanded. A host that it does not know is not connected to.
        ///
        /// Why a connection was refused stands in the delegate's ``PinnedSessionDelegate/refusal``.
        public convenience init(configuration: URLSessionConfiguration, pinnedBy policy: PinPolicy) {
            self.init(configuration: configuration, delegate: PinnedSessionDelegate(policy), delegateQueue: nil)
        }
    }
#endif
