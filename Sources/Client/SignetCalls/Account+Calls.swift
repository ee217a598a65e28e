public import CallClient
public import CallSignalling
public import KeyTransparency
public import Signet
import SignetClient

/// Calls with verified people. They are in a library of their own: frames are sealed with libcrypto on Linux, which an app that does not
/// call has no use for.
extension Account {
    /// The trust check before a call: looks everybody up, verifies, and compares with what was accepted. The user's own other devices
    /// belong to the call as well.
    ///
    /// - Throws: ``CallFailure``: no call then, and nobody has been told of one. Once the user has accepted a
    ///   ``CallFailure/changed(_:)``, the check is made again.
    public func peopleForCall(_ people: [Handle]) async throws(CallFailure) -> CallPeople {
        do throws(CallTrustError) { return try await home.client.peopleForCall(people) } catch {
            switch error {
            case .changed(let handle): throw try await change(of: handle)
            case .lookup(_, let refusal): try await follow(refusal, orElse: .trust(error))
            case .stranger, .contradicted: throw .trust(error)
            }
        }
        do throws(CallTrustError) { return try await home.client.peopleForCall(people) } catch {
            if case .changed(let handle) = error { throw try await change(of: handle) }
            throw .trust(error)
        }
    }

    /// Starts a call with this device as its host, and rings every device of these people unless it is to be silent. Everybody else is
    /// kept out, and nothing is sent while somebody else is in.
    ///
    /// - Parameters:
    ///   - people: whom ``peopleForCall(_:)`` has let through.
    ///   - time: how long to ring, 5 to 120 seconds; nil rings nobody. ``CallNotice/rung(_:_:)`` says what came of it.
    /// - Throws: ``CallFailure``.
    public func call(
        _ people: CallPeople, ringingFor time: Duration? = .seconds(45)
    ) async throws(CallFailure) -> GroupCall {
        let call = try await enterCall(with: people)
        await call.start()
        if let time { await call.ring(as: handle, for: UInt16(clamping: time.components.seconds)) }
        return call
    }

    /// Joins a call: one that rang and was accepted, or whose name the user was told.
    ///
    /// - Throws: ``CallFailure``.
    public func join(_ call: CallID, with people: CallPeople) async throws(CallFailure) -> GroupCall {
        let call = try await enterCall(.join(call), with: people)
        await call.join()
        return call
    }

    /// Accepts a call that rings, and enters it. The listener that heard it is closed: while a call lasts, the call hears of others that
    /// ring, as ``CallNotice/rang(_:)``.
    ///
    /// - Throws: ``CallFailure``; a change of somebody's keys, before anything is answered: it rings on.
    public func accept(_ incoming: IncomingCall, from listener: RingListener) async throws(CallFailure) -> GroupCall {
        let people = try await peopleForCall(incoming.people)
        await listener.answer(.accept, to: incoming)
        await listener.close()
        return try await join(incoming.ring.callID, with: people)
    }

    /// Waits for people whom the user has added or accepted to ring; of anybody else's rings nothing is told. Who calls is looked up and
    /// verified before. ``RingListener/events`` are what happens.
    ///
    /// - Throws: ``CallFailure``.
    public func incomingCalls() async throws(CallFailure) -> RingListener {
        do throws(CallEntryError) {
            return try await home.client.listen(by: secrets, judging: try ringJudge(isBusy: false))
        } catch {
            guard case .ticket(let refusal) = error else { throw .entry(error) }
            try await follow(refusal, orElse: .entry(error))
        }
        do { return try await home.client.listen(by: secrets, judging: try ringJudge(isBusy: false)) } catch {
            throw .entry(error)
        }
    }

    // MARK: Inside

    /// Enters a call, in which this device takes part when it starts or joins.
    package func enterCall(
        _ act: CallAct? = nil, with people: CallPeople, suffering faults: CallFaults = CallFaults()
    ) async throws(CallFailure) -> GroupCall {
        var generator = SystemRandomNumberGenerator()
        let act = act ?? .start(CallID(using: &generator), inviting: people.devices.sorted())
        do {
            return try await home.client.enter(
                act, with: people, by: secrets, judging: try ringJudge(isBusy: true), suffering: faults)
        } catch { throw .entry(error) }
    }

    /// The judge of this device's rings, with what the home folder remembers of them. A file that cannot be read has remembered nothing.
    package nonisolated func ringJudge(
        in home: OpenHome, isBusy: Bool
    ) throws(CallEntryError) -> RingJudge {
        guard let identity = CallIdentity(secrets) else { throw .ticket(.keystore(.keysDoNotFit)) }
        let file = home.folder.rings
        let bytes = try? file.read(maximumByteCount: RingMemory.maximumByteCount, isSecret: false)
        return RingJudge(
            for: identity, of: handle, among: home.client.ringPeople,
            remembering: bytes.flatMap { RingMemory(decoding: $0) } ?? RingMemory(), isBusy: isBusy
        ) { memory in try? file.replace(with: memory.encoded) }
    }

    private func ringJudge(isBusy: Bool) throws(CallEntryError) -> RingJudge { try ringJudge(in: home, isBusy: isBusy) }

    /// Goes on under the directory's new keys, if their change is what a refusal came from.
    private func follow(_ refusal: ClientError, orElse failure: CallFailure) async throws(CallFailure) {
        let moved: OpenHome?
        do { moved = try await home.caughtUp(after: refusal) } catch { throw .account(error) }
        guard let moved else { throw failure }
        move(to: moved)
    }

    /// What has changed of somebody, for the user to decide about.
    private func change(of handle: Handle) async throws(CallFailure) -> CallFailure {
        do throws(SignetError) {
            guard let change = try await keyChange(of: handle) else { return .trust(.changed(handle)) }
            return .changed(change)
        } catch { throw .account(error) }
    }
}
