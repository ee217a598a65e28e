// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
public import SignetAPI

extension Client {
    /// Registers a new account with this device as its first, and verifies that the log holds what was sent.
    ///
    /// After an interruption, call it again with the same keys. The version of the verdict is above 1 if the handle was somebody
    /// else's before, whom the operator took it from: then the log has to say so, and whoever knew them sees another identity.
    ///
    /// - Parameter proof: what a directory asks for that does not register everybody; an invitation for a handle that the operator has
    ///   released; nil for nothing.
    /// - Throws: ``ClientError``; ``ClientError/refused(_:_:)`` says what the directory asks for. After an error of the environment the state may or may not be logged.
    public func createAccount(
        _ secrets: DeviceSecrets, with proof: RegistrationProof? = nil
    ) async throws(ClientError) -> LookupVerdict {
        guard let identityKey = secrets.identityKey else { throw .misuse(.identityKeyElsewhere) }
        if let verdict = try await finishPending(secrets, with: proof) { return verdict }
        let card = try await deviceCard(secrets)
        let device = DeviceRecord(number: 1, addedAt: surroundings.now(), keys: secrets.keys)
        var body = AccountStateBody(first: secrets.handle, identityKey: identityKey, devices: [device])
        if case .invitation = proof, let former = try await holder(of: secrets.handle),
            former.identityKey != identityKey
        {
            do throws(AccountStateError) {
                body = try AccountStateBody(takingOver: former, identityKey: identityKey, devices: [device])
            } catch { throw .account(error) }
        }
        return try await submit(body, cards: [card], by: secrets, with: proof)
    }

    /// The last state of whoever has a handle, as the log shows it; nil for a handle that is free or closed.
    private func holder(of handle: Handle) async throws(ClientError) -> AccountState? {
        guard case .registered(let lookup) = try await verifiedAnswer(handle).answer else { return nil }
        return lookup.state
    }

    /// Proves to the directory that this device holds its keys, and makes the card with which a device that holds the identity
    /// key adds it.
    ///
    /// - Throws: ``ClientError``.
    public func deviceCard(_ secrets: DeviceSecrets) async throws(ClientError) -> DeviceCard {
        let challenge = try await calls.challenge(
            PossessionRequest(handle: secrets.handle, keys: secrets.keys))
        do { return try secrets.card(answering: challenge) } catch { throw .submission(error) }
    }

    /// Adds the device of a card to the account. Apps use the device card in a `LinkCard`, which is checked first.
    ///
    /// - Throws: ``ClientError``; ``ClientError/ownAccountChanged(_:)`` if the account is not in the state in which this device
    ///   left it.
    package func addDevice(
        _ card: DeviceCard, by secrets: DeviceSecrets
    ) async throws(ClientError) -> LookupVerdict {
        guard card.request.handle == secrets.handle else {
            throw .misuse(.anotherAccount(card.request.handle))
        }
        let state = try await ownState(secrets)
        if let there = state.devices.first(where: { $0.keys.signing == card.request.keys.signing }) {
            throw .misuse(.deviceAlreadyAdded(there.number))
        }
        guard state.devices.count < AccountState.maximumDeviceCount else { throw .misuse(.tooManyDevices) }
        let device = DeviceRecord(
            number: try await nextDeviceNumber(state), addedAt: surroundings.now(), keys: card.request.keys)
        return try await submit(try next(state, state.devices + [device]), cards: [card], by: secrets)
    }

    /// Removes a device from the account. The device keeps what it could read before.
    ///
    /// - Throws: ``ClientError``; ``ClientError/ownAccountChanged(_:)`` if the account is not in the state in which this device
    ///   left it.
    public func revokeDevice(
        _ number: UInt16, by secrets: DeviceSecrets
    ) async throws(ClientError) -> LookupVerdict {
        let state = try await ownState(secrets)
        guard let device = state.devices.first(where: { $0.number == number }) else {
            throw .misuse(.noSuchDevice(number))
        }
        guard device.keys.signing != secrets.keys.signing else { throw .misuse(.ownDevice) }
        let rest = state.devices.filter { $0.number != number }
        return try await submit(try next(state, rest), cards: [], by: secrets)
    }

    /// The account as it is logged, if that is the state in which this device left it. What the directory has lost of it is brought again first.
    package func ownState(_ secrets: DeviceSecrets) async throws(ClientError) -> AccountState {
        guard secrets.identityKey != nil else { throw .misuse(.identityKeyElsewhere) }
        return try await bringingAgain { () throws(ClientError) in try await shownState(secrets) }
    }

    private func shownState(_ secrets: DeviceSecrets) async throws(ClientError) -> AccountState {
        _ = try await finishPending(secrets)
        let verdict = try await lookup(secrets.handle).verdict
        switch verdict.outcome {
        case .matched, .firstPinned, .accepted: return verdict.lookup.state
        case .changed(let change): throw .ownAccountChanged(change)
        case .contradicted(let contradiction): throw .contradicted(contradiction)
        case .stranger: throw .misuse(.deviceNotAddedYet)
        }
    }

    private func next(
        _ state: AccountState, _ devices: [DeviceRecord]
    ) throws(ClientError) -> AccountStateBody {
        do { return try state.next(devices: devices) } catch { throw .account(error) }
    }

    private func nextDeviceNumber(_ state: AccountState) async throws(ClientError) -> UInt16 {
        let record = try await stored { () throws(StoreError) in try await store.ownRecord() }
        let highest = max(record.highestDeviceNumber, state.devices.last?.number ?? 0)
        guard highest < UInt16.max else { throw .misuse(.noDeviceNumberLeft) }
        return highest + 1
    }
}
