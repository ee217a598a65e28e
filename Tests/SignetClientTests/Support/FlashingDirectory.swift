// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import ProtocolTesting
import SignetAPI
import SignetClient
import SignetTesting
import Synchronization
import TransparencyLog

/// A directory with all of its own keys and those of its witnesses, which for one epoch shows a person under forged
/// keys: they are in the log and in that epoch's index, and before and after it in no index. It answers as a server
/// does.
final class FlashingDirectory: HTTPTransport {
    /// A person whose keys are always shown honestly.
    let bystander: PaperPerson
    /// The person for whom forged keys are shown for one epoch.
    let victim: PaperPerson
    /// The same person under the operator's forged keys.
    let forged: PaperPerson
    private let paper: Mutex<State>

    private struct State {
        var directory: PaperDirectory
        var now = PaperDirectory.now
        /// The label's history that the last epoch's index holds; nil for the true one.
        var shown: MerkleTree?
    }

    init() throws {
        bystander = try Self.person("carol@example.org", seed: 20)
        victim = try Self.person("bob@example.org", seed: 30)
        forged = try Self.person("bob@example.org", seed: 40)
        var directory = try PaperDirectory()
        try directory.publish(bystander)
        try directory.publish(victim)
        let (label, key) = (try directory.label(forged.handle).hash, try directory.key(forged.handle))
        let entries = forged.leaves(label) + [try forged.record(label).entry]
        var history = MerkleTree()
        for entry in entries {
            directory.logUnseen(entry)
            history.append(.leaf(entry))
        }
        let flash = LabelHead(try history.head(size: history.size)).value
        try directory.endEpoch(lieInIndex: { $0[key] = flash })
        paper = Mutex(State(directory: directory, shown: history))
    }

    private static func person(_ name: String, seed: UInt8) throws -> PaperPerson {
        var person = try PaperPerson(name, seed: seed, deviceCount: 1)
        person.sendsKeys = true
        return person
    }

    /// The time of the directory's clock and of all others.
    var now: UInt64 { paper.withLock { $0.now } }

    /// A day later an epoch ends, with an honest index.
    func takeBack() throws {
        try paper.withLock { paper in
            paper.now += 86_400
            let (key, truth) = (
                try paper.directory.key(victim.handle), try paper.directory.history(victim.handle).value
            )
            try paper.directory.endEpoch(at: paper.now * 1000, lieInIndex: { $0[key] = truth })
            paper.shown = nil
        }
    }

    /// A client that has both people as contacts.
    func client() async throws -> Client<InMemoryStore> {
        let trust = try paper.withLock { try $0.directory.trust() }
        let store = InMemoryStore()
        for person in [bystander, victim] { try await store.remember(Person(handle: person.handle, since: now)) }
        return try Client(
            of: DirectoryProfile(url: "https://localhost", tlsRoot: [], pins: [], trust: trust), over: self,
            remembering: store, owner: nil,
            in: Surroundings(now: { self.now }, wait: { _ in }, randomBytes: Surroundings.system.randomBytes))
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard let body = try? answer(request) else {
            return TransportResponse(status: 404, mediaType: nil, body: [])
        }
        return TransportResponse(status: 200, mediaType: Route.nativeMediaType, body: body)
    }

    private func answer(_ request: TransportRequest) throws -> [UInt8]? {
        switch request.path {
        case Route.lookup.path: return try lookup(LookupRequest(decoding: request.body)).encoded
        case Route.history.path:
            let request = try HistoryRequest(decoding: request.body).lookup
            let lookup = try lookup(request).encoded
            let devices = (request.handle == victim.handle ? victim : bystander).devices
            return HistoryResponse(
                lookup: lookup, steps: [], entries: devices.map { .device($0.keys.signing) }
            ).encoded
        case Route.milestones.path: return try milestones().encoded
        default: throw PaperFault.notThere
        }
    }

    /// The last epoch is the first of its day, and the keys were shown on the day before: no milestone lies between.
    private func milestones() throws -> MilestonesResponse {
        try paper.withLock { paper in
            guard let last = paper.directory.lastRecord else { throw PaperFault.notThere }
            return MilestonesResponse(before: try paper.directory.epoch(at: last.start - 1), answers: [])
        }
    }

    private func lookup(_ request: LookupRequest) throws -> LookupResponse {
        try paper.withLock { paper in
            let isVictim = request.handle == victim.handle
            let flash = isVictim ? paper.shown : nil
            var answer = try paper.directory.answer(
                about: isVictim ? flash == nil ? victim : forged : bystander,
                knowing: (request.knownSize, request.knownCount), history: flash)
            answer.note = try paper.directory.note(at: paper.now).encoded
            return answer.response
        }
    }
}
