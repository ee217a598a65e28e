// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import CanonicalCoding
import STOMP

extension Broker {
    /// Takes a frame; what is wrong with it ends the connection.
    mutating func take(_ judged: JudgedFrame, on id: SessionID, at now: BrokerTime) {
        guard let session = sessions[id] else { return }
        let frame = judged.frame
        do throws(RelayFault) {
            guard frame.command.isAnswer || mayHold(judged.byteCount, for: id) else { throw .tooSlow }
            switch frame.command {
            case .connect, .stomp:
                guard !session.isConnected else { throw .unexpectedFrame }
                try connect(frame, id)
                return
            case .connected, .message, .receipt, .error: throw .unexpectedFrame
            default: break
            }
            guard session.isConnected else { throw .notConnected }
            try carryOut(judged, on: id, at: now)
            confirm(frame, id)
            if frame.command == .disconnect { bye(id) }
        } catch { fail(id, error, frame.value(of: .receipt)) }
    }

    private mutating func connect(_ frame: StompFrame, _ id: SessionID) throws(RelayFault) {
        let versions = frame.value(of: .acceptVersion) ?? []
        guard versions.split(separator: UInt8(ascii: ",")).contains(where: { $0.elementsEqual(Self.version) }) else {
            throw .wrongVersion
        }
        let theirs: HeartBeat
        do { theirs = try frame.value(of: .heartBeat).map { try HeartBeat(decoding: $0) } ?? .none } catch {
            throw .invalidHeader
        }
        let ours = HeartBeat(canSend: limits.heartBeat, wants: limits.heartBeat)
        sessions[id]?.connect(ours, theirs)
        send(
            .connected,
            [
                StompHeader(.version, Self.version), StompHeader(.heartBeat, ours.encoded),
                StompHeader(.session, Decimal.encode(id.number)), StompHeader("server", Array("signet".utf8)),
            ], to: id)
    }

    private mutating func carryOut(_ judged: JudgedFrame, on id: SessionID, at now: BrokerTime) throws(RelayFault) {
        let frame = judged.frame
        switch frame.command {
        case .send, .ack, .nack:
            if let name = frame.value(of: .transaction) { return try add(judged, to: name, on: id) }
            try carryOutNow(judged, on: id, at: now)
        case .subscribe: try subscribe(frame, on: id, at: now)
        case .unsubscribe: try unsubscribe(frame.value(of: .id) ?? [], on: id)
        case .begin: try begin(frame.value(of: .transaction) ?? [], on: id)
        case .commit: try commit(frame.value(of: .transaction) ?? [], on: id, at: now)
        case .abort:
            _ = try take(transaction: frame.value(of: .transaction) ?? [], of: id)
        default: return
        }
    }

    private mutating func carryOutNow(_ judged: JudgedFrame, on id: SessionID, at now: BrokerTime) throws(RelayFault) {
        let frame = judged.frame
        switch frame.command {
        case .send:
            if let act = CallAct(destination: frame.value(of: .destination) ?? [], body: frame.body) {
                try carryOut(act, on: id, at: now)
            } else {
                try relay(frame, along: try route(of: judged, on: id), on: id, at: now)
            }
        case .ack: try acknowledge(frame, on: id)
        default: try sendBack(frame, on: id)
        }
    }

    // MARK: Transactions

    private mutating func begin(_ name: [UInt8], on id: SessionID) throws(RelayFault) {
        guard let open = sessions[id]?.transactions else { return }
        guard open[name] == nil else { throw .repeatedTransaction }
        guard open.count < limits.transactions else { throw .transactionTooLarge }
        sessions[id]?.transactions[name] = []
    }

    /// The frames of a transaction, which is over then.
    private mutating func take(transaction name: [UInt8], of id: SessionID) throws(RelayFault) -> [JudgedFrame] {
        guard let frames = sessions[id]?.transactions.removeValue(forKey: name) else { throw .unknownTransaction }
        holdings.add(-frames.reduce(0) { $0 + $1.byteCount }, to: id)
        return frames
    }

    private mutating func add(_ frame: JudgedFrame, to name: [UInt8], on id: SessionID) throws(RelayFault) {
        guard let frames = sessions[id]?.transactions[name] else { throw .unknownTransaction }
        guard frames.count < limits.transactionFrames else { throw .transactionTooLarge }
        holdings.add(frame.byteCount, to: id)
        sessions[id]?.transactions[name]?.append(frame)
    }

    /// All of it or nothing: everything is judged before anything is done.
    private mutating func commit(_ name: [UInt8], on id: SessionID, at now: BrokerTime) throws(RelayFault) {
        let frames = try take(transaction: name, of: id)
        for judged in frames {
            if judged.frame.command == .send {
                _ = try route(of: judged, on: id)
            } else {
                _ = try acknowledgment(in: judged.frame, on: id)
            }
        }
        for judged in frames where sessions[id] != nil {
            let isGone = judged.frame.command != .send && (try? acknowledgment(in: judged.frame, on: id)) == nil
            if !isGone { try carryOutNow(judged, on: id, at: now) }
        }
    }

    // MARK: Answers

    private mutating func confirm(_ frame: StompFrame, _ id: SessionID) {
        guard let receipt = frame.value(of: .receipt), sessions[id] != nil,
            let answer = try? StompFrame(.receipt, [StompHeader(.receiptID, receipt)])
        else { return }
        post(BrokerDelivery(answer.encoded), to: id, isConfirmation: true)
    }

    /// The client says farewell: its connection is closed once everything before is confirmed.
    private mutating func bye(_ id: SessionID) {
        end(id)
        out.append(.close(id))
    }

    mutating func send(_ command: StompCommand, _ headers: [StompHeader], to id: SessionID) {
        guard let frame = try? StompFrame(command, headers) else { return }
        post(BrokerDelivery(frame.encoded), to: id)
    }

    /// Hands bytes to a connection. They count until it has written them.
    mutating func post(_ delivery: BrokerDelivery, to id: SessionID, isConfirmation: Bool = false) {
        holdings.add(delivery.byteCount, to: id)
        out.append(isConfirmation ? .confirm(id, delivery) : .send(id, delivery))
    }

    /// Whether so many bytes more may be held for a connection.
    func mayHold(_ byteCount: Int, for id: SessionID) -> Bool {
        guard let account = sessions[id]?.account else { return false }
        return holdings.of(id) + byteCount <= limits.heldPerSession
            && holdings.of(account) + byteCount <= limits.heldPerAccount
    }

    /// Makes room for so many bytes: cuts off the connection with the most in transit, until there is enough.
    mutating func makeRoom(for byteCount: Int) {
        while holdings.total + byteCount > limits.heldAltogether, let id = holdings.greediest {
            end(id)
            holdings.drop(id)
            out.append(.cut(id))
        }
    }

    /// Says what is wrong, and ends the connection.
    mutating func fail(_ id: SessionID, _ fault: RelayFault, _ receipt: [UInt8]? = nil) {
        guard sessions[id] != nil else { return }
        var headers = [StompHeader(.message, Array(fault.rawValue.utf8))]
        if fault == .wrongVersion { headers.append(StompHeader(.version, Self.version)) }
        if let receipt { headers.append(StompHeader(.receiptID, receipt)) }
        send(.error, headers, to: id)
        end(id)
        out.append(.close(id))
    }

    /// Forgets a connection. What it has not acknowledged goes back.
    mutating func end(_ id: SessionID) {
        guard let names = sessions[id]?.subscriptions.keys else { return }
        for name in names { remove(SubscriptionKey(session: id, name: name)) }
        for name in sessions[id]?.transactions.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) ?? [] {
            _ = try? take(transaction: name, of: id)
        }
        sessions[id] = nil
    }

    private static let version = Array("1.2".utf8)
}

extension StompCommand {
    /// Whether it makes room rather than takes it.
    fileprivate var isAnswer: Bool { self == .ack || self == .nack || self == .disconnect }
}
