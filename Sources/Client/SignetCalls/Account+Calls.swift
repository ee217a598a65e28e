// SPDX-License-Identifier: Apache-2.0

public import CallClient
public import CallSignalling
public import KeyTransparency
public import Signet
import SignetClient

/// Calls with verified people. They are in a separate library: frames are sealed with libcrypto on Linux, which an app without
/// calls does not need.
extension Account {
    /// The trust check before a call: looks each person up, verifies the answer, and compares it with what was accepted. The
    /// user's own other devices belong to the call as well.
    ///
    /// - Throws: ``CallFailure``: there is no call then, and no one has been told of one. Once the user has accepted a
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

    /// The same check, in which the user decides about every change, and the call continues with what they accept.
    ///
    /// - Parameter decide: shows a change, and returns whether the user accepts it. Nothing later than what was shown is accepted.
    /// - Throws: ``CallFailure``: ``CallFailure/changed(_:)`` if the user does not accept a change, or if keys change faster than
    ///   the user can look at them; and any error that `decide` throws.
    public nonisolated func peopleForCall(
        _ people: [Handle], deciding decide: (KeyChange) async throws -> Bool
    ) async throws -> CallPeople {
        // The user may be asked about each person once, and about their own account, which is looked up too.
        for _ in 0...people.count {
            do throws(CallFailure) { return try await peopleForCall(people) } catch {
                switch error {
                case .changed(let change):
                    guard try await decide(change) else { throw error }
                    do throws(SignetError) { _ = try await accept(change) } catch { throw CallFailure.account(error) }
                case .trust(.changed): continue
                default: throw error
                }
            }
        }
        return try await peopleForCall(people)
    }

    /// Starts a call with this device as its host, and rings every device of these people unless the call is to be silent. All
    /// other people are kept out, and nothing is sent while anyone else is in the call.
    ///
    /// - Parameters:
    ///   - people: the people whom ``peopleForCall(_:)`` accepted.
    ///   - time: how long to ring, 5 to 120 seconds; nil does not ring. ``CallNotice/rung(_:_:)`` reports the outcome.
    /// - Throws: ``CallFailure``.
    public func call(
        _ people: CallPeople, ringingFor time: Duration? = .seconds(45)
    ) async throws(CallFailure) -> GroupCall {
        let call = try await enterCall(with: people)
        await call.start()
        if let time { await call.ring(as: handle, for: UInt16(clamping: time.components.seconds)) }
        return call
    }

    /// Joins a call that rang and was accepted, or whose ID the user was told.
    ///
    /// - Throws: ``CallFailure``.
    public func join(_ call: CallID, with people: CallPeople) async throws(CallFailure) -> GroupCall {
        let call = try await enterCall(.join(call), with: people)
        await call.join()
        return call
    }

    /// Accepts a ringing call, and enters it. The listener that received it is closed; while the call lasts, the call reports
    /// other ringing calls as ``CallNotice/rang(_:)``.
    ///
    /// - Throws: ``CallFailure``. If a person's keys have changed, it throws before anything is answered, and the call keeps
    ///   ringing.
    public func accept(_ incoming: IncomingCall, from listener: RingListener) async throws(CallFailure) -> GroupCall {
        let people = try await peopleForCall(incoming.people)
        await listener.answer(.accept, to: incoming)
        await listener.close()
        return try await join(incoming.ring.callID, with: people)
    }

    /// Waits for rings from people whom the user has added or accepted; rings from other people are not reported. The caller is
    /// looked up and verified first. ``RingListener/events`` are the events.
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

    /// Enters a call that this device starts or joins.
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

    /// The judge of this device's rings, with the memory that the home folder holds. If the file cannot be read, the memory is
    /// empty.
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

    /// Continues under the directory's new keys, if their change caused a refusal.
    private func follow(_ refusal: ClientError, orElse failure: CallFailure) async throws(CallFailure) {
        let moved: OpenHome?
        do { moved = try await home.caughtUp(after: refusal) } catch { throw .account(error) }
        guard let moved else { throw failure }
        move(to: moved)
    }

    /// What has changed about a person, for the user to decide on.
    private func change(of handle: Handle) async throws(CallFailure) -> CallFailure {
        do throws(SignetError) {
            guard let change = try await keyChange(of: handle) else { return .trust(.changed(handle)) }
            return .changed(change)
        } catch { throw .account(error) }
    }
}
