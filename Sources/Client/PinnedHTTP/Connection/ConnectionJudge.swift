// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import NIOCore
import NIOSSL
import PinnedChains
import Synchronization

/// Judges the chain of one connection, and remembers the reason, because NIOSSL loses what a verification callback throws.
final class ConnectionJudge: Sendable {
    private let connector: PinnedConnector
    private let host: ServerName
    private let port: Int
    private let rule: PinRule
    private let proxy: ProxyState
    private let outcome = Mutex<Result<PinVerdict, ChainRefusal>?>(nil)

    /// - Throws: ``TransportError`` if connections to this host are not allowed now; no packet is sent.
    init(_ connector: PinnedConnector, _ address: ServerAddress) throws(TransportError) {
        self.connector = connector
        do { host = try ServerName(address.host.utf8) } catch { throw .invalidAddress }
        port = address.port
        proxy = connector.proxies.state(for: host)
        do {
            rule = try connector.verifier.admit(host, at: connector.clock(), proxy: proxy)
        } catch { throw .refused(error) }
    }

    /// The host name that the client's greeting carries; it never carries an IP address.
    var serverHostname: String? {
        switch host {
        case .dns(let name): String(decoding: name, as: UTF8.self)
        case .address: nil
        }
    }

    /// The verdict, once there is one.
    var verdict: PinVerdict? { outcome.withLock { try? $0?.get() } }
    /// The refusal, if that is what ended the handshake.
    var refusal: ChainRefusal? {
        outcome.withLock { outcome in
            if case .failure(let refusal) = outcome { refusal } else { nil }
        }
    }

    func judge(
        _ certificates: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResultWithMetadata>
    ) {
        let presented = certificates.compactMap { try? $0.toDERBytes() }
        guard presented.count == certificates.count else { return promise.succeed(.failed) }
        let now = connector.clock()
        let key = VerifiedChainCache.key(presented, host: host, policyVersion: connector.verifier.policy.version)
        if let known = connector.cache?.verdict(key, at: now) {
            finish(.success(known), presented, now)
            return promise.succeed(.certificateVerified(VerificationMetadata(nil)))
        }
        // On the event loop, where NIOSSL would verify too: another thread costs more than the search, which has an end.
        Task(executorPreference: EventLoopExecutor(promise.futureResult.eventLoop)) {
            do throws(ChainRefusal) {
                let verdict = try await self.connector.verifier.verify(presented, for: self.host, at: now)
                self.connector.cache?.keep(verdict, as: key, rule: self.rule, at: now)
                self.finish(.success(verdict), presented, now)
                promise.succeed(.certificateVerified(VerificationMetadata(nil)))
            } catch {
                self.finish(.failure(error), presented, now)
                promise.succeed(.failed)
            }
        }
    }

    private func finish(_ result: Result<PinVerdict, ChainRefusal>, _ presented: [[UInt8]], _ now: UInt64) {
        outcome.withLock { $0 = result }
        switch result {
        case .success(let verdict) where verdict.basis == .reportOnly:
            report(presented, verdict.path.certificates, wasRefused: false, now)
        case .failure(let refusal) where refusal.reason == .noPinMatched:
            let trusted = refusal.candidates.first { $0.fault == nil }?.path.certificates ?? []
            report(presented, trusted, wasRefused: true, now)
        default: return
        }
    }

    private func report(_ presented: [[UInt8]], _ validated: [[UInt8]], wasRefused: Bool, _ now: UInt64) {
        connector.onViolation?(
            ViolationReport(
                time: now, host: host, port: port, rule: rule, wasRefused: wasRefused, servedChain: presented,
                validatedChain: validated, proxy: proxy, policyVersion: connector.verifier.policy.version))
    }
}
