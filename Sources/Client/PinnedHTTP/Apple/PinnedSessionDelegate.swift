// SPDX-License-Identifier: Apache-2.0

#if canImport(Security) && canImport(Darwin)
    public import Foundation
    public import KeyPinning
    import Security
    import Synchronization

    /// Pins the connections of a `URLSession`, both for requests and for WebSocket tasks.
    ///
    /// Apple's verification builds the path, and the policy judges it, as on every other platform. A session must be created
    /// with this delegate; it cannot be added later or removed.
    ///
    /// Security: a session without a delegate is not pinned. `WKWebView` and login pages in a browser never are.
    public final class PinnedSessionDelegate: NSObject, URLSessionDelegate, URLSessionTaskDelegate,
        URLSessionWebSocketDelegate, Sendable
    {
        /// The pin policy.
        public let policy: PinPolicy
        private let clock: @Sendable () -> UInt64
        private let proxy: @Sendable (ServerName) -> ProxyState
        private let lastRefusal = Mutex<ChainRefusal?>(nil)

        /// A delegate.
        ///
        /// - Parameters:
        ///   - clock: seconds since 1970.
        ///   - proxy: the proxies that the device's settings name for a host.
        public init(
            _ policy: PinPolicy, clock: @escaping @Sendable () -> UInt64 = SystemClock.now,
            proxy: @escaping @Sendable (ServerName) -> ProxyState = { ProxySettings.ofProcess.state(for: $0) }
        ) {
            self.policy = policy
            self.clock = clock
            self.proxy = proxy
        }

        /// Why the last connection was refused; the session itself only reports that it was cancelled.
        public var refusal: ChainRefusal? { lastRefusal.withLock { $0 } }

        /// Answers a server's challenge: accepts a pinned chain, and cancels otherwise.
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
        /// A session that pins all its connections.
        ///
        /// - Parameter policy: the pin policy. A connection to a host that the policy does not know is not made.
        ///
        /// The delegate's ``PinnedSessionDelegate/refusal`` says why a connection was refused.
        public convenience init(configuration: URLSessionConfiguration, pinnedBy policy: PinPolicy) {
            self.init(configuration: configuration, delegate: PinnedSessionDelegate(policy), delegateQueue: nil)
        }
    }
#endif
