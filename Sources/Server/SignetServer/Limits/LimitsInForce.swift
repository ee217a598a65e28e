// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Synchronization

/// The limits of a running server that can change while it runs, with what is counted for them.
final class LimitsInForce: Sendable {
    let ledger: ConnectionLedger
    let connectionRate: RateLimiter<ClientAddress>
    let addressRate: RateLimiter<ClientAddress>
    let accountRate: RateLimiter<Int64>
    private let invitation: Atomic<Bool>

    init(_ configuration: HTTPSServer.Configuration) {
        let limits = configuration.limits
        ledger = ConnectionLedger(total: limits.connections, perAddress: limits.connectionsPerAddress)
        connectionRate = RateLimiter(limits.connectionRate, remembering: limits.rememberedClients)
        addressRate = RateLimiter(limits.addressRate, remembering: limits.rememberedClients)
        accountRate = RateLimiter(limits.accountRate, remembering: limits.rememberedClients)
        invitation = Atomic(configuration.registersByInvitation)
    }

    /// Whether a new account needs an invitation.
    var registersByInvitation: Bool { invitation.load(ordering: .relaxed) }

    /// Takes the limits of another configuration. What is counted stays counted, and what is open stays open.
    func change(to configuration: HTTPSServer.Configuration) {
        let limits = configuration.limits
        ledger.change(total: limits.connections, perAddress: limits.connectionsPerAddress)
        connectionRate.change(to: limits.connectionRate)
        addressRate.change(to: limits.addressRate)
        accountRate.change(to: limits.accountRate)
        invitation.store(configuration.registersByInvitation, ordering: .relaxed)
    }
}

extension RateLimiter {
    convenience init(_ rate: RequestRate, remembering capacity: Int) {
        self.init(perSecond: rate.perSecond, burst: rate.burst, remembering: capacity)
    }

    fileprivate func change(to rate: RequestRate) { change(perSecond: rate.perSecond, burst: rate.burst) }
}
