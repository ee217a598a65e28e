// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import KeyTransparency
import Synchronization

/// Counts logins so that an attacker can neither try passwords fast nor lock a person out.
///
/// A login counts for its address, for its account from that address, and for its account from all strange addresses. The
/// last is what many addresses together may try; an address from which the account logged in or made a signed request since
/// the server started is not strange, so strangers use up nothing of it.
final class LoginAttempts: Sendable {
    /// An account as seen from an address.
    struct Place: Hashable, Sendable {
        let handle: Handle
        let client: ClientAddress
    }

    /// An attempt that was taken.
    struct Attempt: Sendable {
        let place: Place
        /// Whether the account was not seen at this address before.
        let isStrange: Bool
    }

    /// How many addresses of an account are known; the one not seen for longest is forgotten.
    private static let maximumKnownCount = 8

    private let ofAddress: AttemptLimiter<ClientAddress>
    private let ofPlace: AttemptLimiter<Place>
    private let ofStrangers: AttemptLimiter<Handle>
    private let known: Mutex<RecencyTable<Handle, [ClientAddress]>>

    init(_ limits: LoginLimits) {
        ofAddress = AttemptLimiter(limits.address, remembering: limits.rememberedClients)
        ofPlace = AttemptLimiter(limits.account, remembering: limits.rememberedClients)
        ofStrangers = AttemptLimiter(limits.strangers, remembering: limits.rememberedClients)
        known = Mutex(RecencyTable(capacity: limits.rememberedClients))
    }

    /// Takes an attempt; nil if there is none left. Then nothing is counted.
    func take(_ place: Place, at now: UInt64) -> Attempt? {
        guard ofAddress.take(of: place.client, at: now) else { return nil }
        guard ofPlace.take(of: place, at: now) else {
            ofAddress.giveBack(to: place.client)
            return nil
        }
        let isStrange = !isKnown(place)
        guard !isStrange || ofStrangers.take(of: place.handle, at: now) else {
            ofAddress.giveBack(to: place.client)
            ofPlace.giveBack(to: place)
            return nil
        }
        return Attempt(place: place, isStrange: isStrange)
    }

    /// Undoes a ``take(_:at:)``: the login succeeded.
    func giveBack(_ attempt: Attempt) {
        undo(attempt)
        remember(attempt.place)
    }

    /// Undoes a ``take(_:at:)``: the login did not begin.
    func undo(_ attempt: Attempt) {
        ofAddress.giveBack(to: attempt.place.client)
        ofPlace.giveBack(to: attempt.place)
        if attempt.isStrange { ofStrangers.giveBack(to: attempt.place.handle) }
    }

    /// The account's owner is at this address.
    func remember(_ place: Place) {
        known.withLock { known in
            known.withValue(of: place.handle, initial: []) { clients in
                clients = [place.client] + clients.filter { $0 != place.client }.prefix(Self.maximumKnownCount - 1)
            }
        }
    }

    private func isKnown(_ place: Place) -> Bool {
        known.withLock { $0.value(of: place.handle)?.contains(place.client) ?? false }
    }
}
