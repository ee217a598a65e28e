// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import STOMP
public import SignalClient
public import SignetClient

/// Waits for rings at the inbox of a device that is not in a call.
public actor RingListener {
    /// What happens, for one reader; ends when the way to the inbox has ended for good.
    public nonisolated let events: AsyncStream<RingEvent>
    private let client: RelayClient
    private let identity: CallIdentity
    private let judge: RingJudge
    private let checkpoint: [UInt8]
    private let report: AsyncStream<RingEvent>.Continuation
    private var tasks: [Task<Void, Never>] = []

    /// Listens.
    ///
    /// - Parameter checkpoint: the newest that this device has verified, as a card, which goes with its answers; empty for none.
    /// - Throws: `RelayClientError`.
    public init(
        through client: RelayClient, as identity: CallIdentity, judging judge: RingJudge,
        telling checkpoint: [UInt8] = []
    ) async throws(RelayClientError) {
        self.checkpoint = checkpoint
        self.client = client
        self.identity = identity
        self.judge = judge
        (events, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        let inbox = try await client.subscribe(to: .inbox(identity.device), mode: .individual)
        tasks = [
            Task { await self.read(inbox) },
            Task { while (try? await Task.sleep(for: .milliseconds(250))) != nil { await self.tick() } },
        ]
    }

    /// What rings, the oldest first.
    public var ringing: [IncomingCall] { get async { await judge.ringing } }

    /// Answers a call that rings, which it does no more. Who accepts then enters the call, having closed this.
    public func answer(_ answer: RingAnswer.Answer, to call: IncomingCall) async {
        await judge.stop(call)
        await reply(answer, to: call.ring)
    }

    /// Ends the connection.
    public func close() async {
        for task in tasks { task.cancel() }
        await client.close()
        report.finish()
    }

    private func reply(_ answer: RingAnswer.Answer, to ring: ScreenedRing) async {
        guard let signal = identity.answer(answer, to: ring, telling: checkpoint) else { return }
        try? await client.send(signal, within: .seconds(5))
    }

    /// Signals of calls that are over are dealt with by being read.
    private func read(_ inbox: SignalSubscription) async {
        do {
            for try await delivery in inbox {
                if let signal = try? Signal(decoding: delivery.body), let event = await judge.judge(signal) {
                    report.yield(event)
                    if case .busy(_, let ring) = event { await reply(.busy, to: ring) }
                }
                await client.acknowledge(delivery)
            }
        } catch {}
        report.finish()
    }

    private func tick() async {
        for call in await judge.tick() { report.yield(.stopped(call, .over)) }
    }
}

extension Client {
    /// Waits for rings at this device's inbox.
    ///
    /// - Throws: ``CallEntryError``.
    public func listen(
        by secrets: DeviceSecrets, judging judge: RingJudge
    ) async throws(CallEntryError) -> RingListener {
        guard let identity = CallIdentity(secrets) else { throw .ticket(.keystore(.keysDoNotFit)) }
        let relay: RelayEndpoint
        do { relay = try RelayEndpoint(of: profile, as: secrets) } catch { throw .address(error) }
        let client = RelayClient(to: relay)
        let checkpoint = await callGossip().own
        do {
            return try await RingListener(through: client, as: identity, judging: judge, telling: checkpoint)
        } catch {
            await client.close()
            throw .signals(error)
        }
    }
}

extension CallIdentity {
    /// An answer, signed. Nil is a bug of the keystore's, and then nothing is said.
    func answer(_ answer: RingAnswer.Answer, to ring: ScreenedRing, telling checkpoint: [UInt8]) -> Signal? {
        let now = CallClock().now
        return try? Signal(
            signing: Signal.Content(
                callID: ring.callID, sender: device, recipient: ring.device, term: 0, sequence: now, sentAt: now,
                checkpoint: checkpoint, body: .ringAnswer(RingAnswer(answer, to: ring.ring.id))), with: sign)
    }
}
