// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import KeyTransparency
import LogEngine
public import SignetAPI
import TransparencyLog
package import VRF
import VerifiableMap

extension Directory {
    /// Answers "which keys has this handle?": with the latest published state and its proofs, or with the proof that
    /// there is none.
    ///
    /// A client that knows a larger checkpoint than ours is answered all the same, without a consistency proof: that we
    /// are behind is a rollback, and the client is to see it. One of several front ends may honestly be behind, and waits first
    /// (``catchUp(to:)``).
    ///
    /// - Throws: ``DirectoryError``; `unavailable`: the account is being closed; `behind`.
    public func lookup(_ request: LookupRequest) async throws(DirectoryError) -> LookupResponse {
        try await sizedLookup(request).response
    }

    /// The same without waiting, for a handle whose account is in memory; nil for any other.
    ///
    /// Nothing is computed before the answer is asked for.
    package func readyLookup(
        _ request: LookupRequest
    ) -> (() throws(DirectoryError) -> LookupResponse)? {
        guard !isBehind(request.knownSize), let (published, epoch) = try? publishedEpoch(),
            let account = cached(request.handle, size: published.head.size).0
        else { return nil }
        return { () throws(DirectoryError) in try self.response(account, request, published, epoch) }
    }

    /// The same, with the size of the log for which it holds.
    func sizedLookup(
        _ request: LookupRequest
    ) async throws(DirectoryError) -> (response: LookupResponse, size: UInt64) {
        try await catchUp(to: request.knownSize)
        let (published, epoch) = try publishedEpoch()
        let account = try await account(request.handle, size: published.head.size)
        return (try response(account, request, published, epoch), published.head.size)
    }

    /// The same, showing this note of the published head: the end of a log is shown as its succession shows it, not as
    /// it was cosigned again since.
    ///
    /// - Throws: ``DirectoryError``; `versionConflict`: the note is of another head.
    func lookup(
        _ request: LookupRequest, endingWith note: SignedNote
    ) async throws(DirectoryError) -> (response: LookupResponse, size: UInt64) {
        let (published, epoch) = try publishedEpoch()
        guard (try? Checkpoint(decoding: note.text))?.head == published.head else { throw .refused(.versionConflict) }
        let account = try await account(request.handle, size: published.head.size)
        let ended = PublishedCheckpoint(head: published.head, note: note)
        return (try response(account, request, ended, epoch), published.head.size)
    }

    /// Answers with the latest state whose record is among the first `size` entries, as only a liar would.
    package func lookup(
        _ request: LookupRequest, stateWithin size: UInt64
    ) async throws(DirectoryError) -> LookupResponse {
        let (published, epoch) = try publishedEpoch()
        let account = try await storedAccount(request.handle, size: size)
        return try response(account, request, published, epoch)
    }

    /// Answers with a step of the caller's choice in place of the label's last one, as only a liar would.
    package func lookup(
        _ request: LookupRequest, under label: VRFHash, _ proof: VRFProof, as step: LabelAnswer.Step
    ) throws(DirectoryError) -> LookupResponse {
        let (published, epoch) = try publishedEpoch()
        let answer = try answer(LabelIndex(label), request, published, epoch) { _ in step }
        return try response(proof, answer, request, published, epoch)
    }

    /// The checkpoint published last and the epoch that it ends in.
    func publishedEpoch() throws(DirectoryError) -> (PublishedCheckpoint, LoggedEpoch) {
        for _ in 0..<16 {
            let published = log.published
            if let epoch = epochs.epoch(size: published.head.size) { return (published, epoch) }
        }
        throw .refused(.unavailable)
    }

    private func response(
        _ account: PublishedAccount?, _ request: LookupRequest, _ published: PublishedCheckpoint, _ epoch: LoggedEpoch
    ) throws(DirectoryError) -> LookupResponse {
        let (hash, proof) =
            if let account { (account.account.label, account.account.vrfProof) } else {
                try self.label(of: request.handle)
            }
        let label = LabelIndex(hash)
        let answer = try answer(label, request, published, epoch) { (last) throws(DirectoryError) in
            try step(account, label, last, withKeys: request.wantsKeys)
        }
        return try response(proof, answer, request, published, epoch)
    }

    private func response(
        _ proof: VRFProof, _ answer: LookupResponse.Answer, _ request: LookupRequest,
        _ published: PublishedCheckpoint, _ epoch: LoggedEpoch
    ) throws(DirectoryError) -> LookupResponse {
        let path = try epochPath.hashes(of: epoch.size - 1, size: published.head.size) { () throws(DirectoryError) in
            try inclusion(epoch.size - 1, published).hashes
        }
        return LookupResponse(
            vrfProof: proof, epoch: epoch.record, epochPath: path, answer: answer,
            consistency: try consistency(from: request.knownSize, published), note: published.bytes)
    }

    private func answer(
        _ label: LabelIndex, _ request: LookupRequest, _ published: PublishedCheckpoint, _ epoch: LoggedEpoch,
        step: (UInt64) throws(DirectoryError) -> LabelAnswer.Step
    ) throws(DirectoryError) -> LookupResponse.Answer {
        let history = epochs.history(of: label, size: epoch.size)
        let proof = epoch.index.proof(of: label.key)
        guard let last = history.indexes.last, case .present(value: _, path: let path) = proof else {
            return .absent(proof)
        }
        let head: TreeHead
        let (lastPath, consistency): ([TreeHash], ConsistencyProof)
        do {
            let size = history.tree.size
            head = try history.tree.head(size: size)
            lastPath = try history.tree.inclusionProof(index: size - 1, size: size).hashes
            consistency = try history.tree.consistencyProof(from: min(request.knownCount, size), to: size)
        } catch { throw .stopped }
        return .present(
            LabelAnswer(
                indexPath: path, head: LabelHead(head), lastPath: lastPath, historyConsistency: consistency,
                inclusion: try inclusion(last, published), step: try step(last)))
    }

    /// What the last entry of the label's history says, which stands at `index`.
    private func step(
        _ account: PublishedAccount?, _ label: LabelIndex, _ index: UInt64, withKeys: Bool
    ) throws(DirectoryError) -> LabelAnswer.Step {
        if let state = account?.state {
            return .state(
                state.kind, opening: state.opening, encoded: withKeys ? state.encoding : state.stateBytes)
        }
        let version = epochs.version(of: label)
        let closing = TreeHash.leaf(StateRecord(closing: label, version: version).entry)
        // Erased in the database, and the record of that is not published yet.
        guard log.index(ofLeaf: closing) == index else { throw .refused(.unavailable) }
        return .closed(version: version)
    }

    /// The latest state of a handle that a checkpoint of this size covers.
    func account(_ handle: Handle, size: UInt64) async throws(DirectoryError) -> PublishedAccount? {
        let (known, ticket) = cached(handle, size: size)
        if let known { return known }
        let found = try await storedAccount(handle, size: size)
        if let found {
            try requireNewest(found, size: size)
            cache.keep(found, ticket)
        }
        return found
    }

    /// What is in memory of an account, if it is the latest that a checkpoint of this size covers: another process may have brought a
    /// newer state without this one's being told.
    private func cached(_ handle: Handle, size: UInt64) -> (PublishedAccount?, AccountCache.Ticket) {
        let (known, ticket) = cache.find(handle, size: size)
        guard let known else { return (nil, ticket) }
        return (writesLog || isNewest(known, size: size) ? known : nil, ticket)
    }

    /// The latest published state of a handle, for the parts beside the directory; nil if there is none.
    package func publishedState(of handle: Handle) async throws(DirectoryError) -> AccountState? {
        guard let row = try await account(handle, size: log.published.head.size)?.state else { return nil }
        do { return try row.state() } catch { throw .stopped }
    }

    /// Published states of a handle, in order: the first that this log has, those of the versions named, and the latest.
    package func publishedStates(
        of handle: Handle, at versions: Set<UInt64>
    ) async throws(DirectoryError) -> [AccountState] {
        guard let last = try await publishedState(of: handle) else { return [] }
        let rows = try await read { database -> [StateRow] in
            guard let account = try AccountRow.find(handle, in: database),
                let first = try StateRow.oldest(of: account.id, in: database)
            else { return [] }
            let between = versions.filter { first.version < $0 && $0 < last.version }.sorted()
            return try [first] + between.compactMap { try StateRow.find(version: $0, of: account.id, in: database) }
        }
        do {
            return try rows.filter { $0.version < last.version }.map { try $0.state() } + [last]
        } catch { throw .stopped }
    }

    private func storedAccount(_ handle: Handle, size: UInt64) async throws(DirectoryError) -> PublishedAccount? {
        let places = LeafPlaces(log: log, size: size)
        return try await read { database in
            try PublishedAccount.find(AccountRow.find(handle, in: database), in: database, at: places)
        }
    }

    /// The path of an entry to the root of a published checkpoint.
    func inclusion(_ index: UInt64, _ published: PublishedCheckpoint) throws(DirectoryError) -> InclusionProof {
        do { return try log.inclusionProof(index: index, size: published.head.size) } catch { throw .stopped }
    }

    private func consistency(
        from knownSize: UInt64, _ published: PublishedCheckpoint
    ) throws(DirectoryError) -> ConsistencyProof {
        guard knownSize > 0, knownSize < published.head.size else { return ConsistencyProof(hashes: []) }
        do { return try log.consistencyProof(from: knownSize, to: published.head.size) } catch { throw .stopped }
    }
}

// MARK: The eCall lookup

extension Directory {
    /// The devices that have the hashes asked for, or all devices of the handles asked for.
    ///
    /// Unknown ones are left out, and so are revoked devices; what is asked for twice is answered once.
    ///
    /// - Throws: ``DirectoryError``; `badRequest`: not exactly one of the two lists, or a malformed element;
    ///   `tooLarge`: more than `ECallRequest.maximumCount`, or more devices than `ECallRequest.maximumEntryCount`.
    /// Spec: eCall Key Transparency guide, "Friendship Establishment" and "Call Initiation".
    public func eCallEntries(_ request: ECallRequest) async throws(DirectoryError) -> [ECallEntry] {
        let published = log.published
        let devices =
            switch (request.publicKeyHashs, request.targets) {
            case (let hashes?, nil): try await devices(withKeyHashes: hashes, size: published.head.size)
            case (nil, let targets?): try await devices(of: targets, size: published.head.size)
            default: throw DirectoryError.refused(.badRequest)
            }
        guard devices.count <= ECallRequest.maximumEntryCount else { throw .refused(.tooLarge) }
        return try devices.map { (device) throws(DirectoryError) in try entry(device, published) }
    }

    private typealias FoundDevice = (account: PublishedAccount, device: PublishedAccount.Device)
    private typealias OwnedDevice = (owner: AccountRow, device: PublishedAccount.Device)

    private func devices(of targets: [String], size: UInt64) async throws(DirectoryError) -> [OwnedDevice] {
        var devices: [OwnedDevice] = []
        for handle in try elements(of: targets, { try? Handle(canonical: Array($0.utf8)) }) {
            guard let account = try await account(handle, size: size) else { continue }
            devices += account.devices.map { (account.account, $0) }
        }
        return devices
    }

    private func devices(withKeyHashes texts: [String], size: UInt64) async throws(DirectoryError) -> [OwnedDevice] {
        let hashes = try elements(of: texts) { text in
            (try? Base64.decode(Array(text.utf8))).flatMap { $0.count == 32 ? $0 : nil }
        }
        let places = LeafPlaces(log: log, size: size)
        let owned = try await read { database in
            try hashes.flatMap { hash in
                try DeviceRow.accounts(withKeyHash: hash, in: database).flatMap { id -> [FoundDevice] in
                    let row = try AccountRow.find(id: id, in: database)
                    guard let account = try PublishedAccount.find(row, in: database, at: places) else { return [] }
                    return account.devices.filter { $0.keyHash == hash }.map { (account, $0) }
                }
            }
        }
        return try owned.map { (account, device) throws(DirectoryError) in
            try requireNewest(account, size: size)
            return (account.account, device)
        }
    }

    /// The elements of a request's list in order, each once.
    private func elements<Element: Hashable>(
        of texts: [String], _ parse: (String) -> Element?
    ) throws(DirectoryError) -> [Element] {
        guard texts.count <= ECallRequest.maximumCount else { throw .refused(.tooLarge) }
        var seen: Set<Element> = []
        var elements: [Element] = []
        for text in texts {
            guard let element = parse(text) else { throw .refused(.badRequest) }
            if seen.insert(element).inserted { elements.append(element) }
        }
        return elements
    }

    private func entry(
        _ owned: OwnedDevice, _ published: PublishedCheckpoint
    ) throws(DirectoryError) -> ECallEntry {
        ECallEntry(
            publicKey: text(Base64.encode(owned.device.signingKey)), proof: try proof(owned.device.index, published),
            vrfHash: text(Base64.encode(owned.owner.label.bytes)))
    }

    private func proof(_ index: UInt64, _ published: PublishedCheckpoint) throws(DirectoryError) -> String {
        if let known = proofs.find(index, published.bytes) { return known }
        let inclusion = try inclusion(index, published)
        guard let proof = try? TlogProof(extra: nil, inclusion: inclusion, note: published.note) else {
            throw .stopped
        }
        let text = text(proof.encoded)
        proofs.keep(text, index, published.bytes)
        return text
    }
}

/// ASCII that we made ourselves, as JSON wants it.
func text(_ ascii: [UInt8]) -> String { String(decoding: ascii, as: UTF8.self) }
