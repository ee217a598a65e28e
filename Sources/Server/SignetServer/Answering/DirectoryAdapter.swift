// SPDX-License-Identifier: Apache-2.0

package import KeyDirectory
package import KeyTransparency
import LogEngine
package import SignetAPI
package import TransparencyLog

/// The real directory behind the server.
package struct DirectoryAdapter: DirectoryAnswering {
    private let directory: Directory

    /// Answers from `directory`.
    package init(_ directory: Directory) { self.directory = directory }

    package var origin: [UInt8] { directory.origin }

    package func lookup(_ request: LookupRequest) async throws(DirectoryError) -> [UInt8] {
        try await directory.lookup(request).encoded
    }

    package func ready(_ question: OpenQuestion) -> ReadyAnswer? {
        switch question {
        case .lookup(let request):
            guard let lookup = directory.readyLookup(request) else { return nil }
            return { () throws(DirectoryError) in try lookup().encoded }
        case .checkpoint:
            let published = directory.log.published
            return { published.bytes }
        case .tile(let tile):
            guard case .hashes(let level) = tile.content,
                let bytes = try? directory.log.tile(level: level, index: tile.index, width: tile.width)
            else { return nil }
            return { bytes }
        }
    }

    package func history(_ request: HistoryRequest) async throws(DirectoryError) -> [UInt8] {
        try await directory.history(request).encoded
    }

    package func milestones(_ request: MilestonesRequest) async throws(DirectoryError) -> [UInt8] {
        try await directory.milestones(request).encoded
    }

    package func eCallKeys(_ request: ECallRequest) async throws(DirectoryError) -> [UInt8] {
        let entries = try await directory.eCallEntries(request)
        do { return try JSONBody.encode(entries) } catch { throw .database }
    }

    package func succession() async throws(DirectoryError) -> [UInt8]? { try directory.succession()?.encoded }

    package func challenge(_ request: PossessionRequest) async throws(DirectoryError) -> PossessionChallenge {
        try await directory.challenge(request)
    }

    package func expect(_ signature: RequestSignature) async throws(DirectoryError) {
        try await directory.expect(signature)
    }

    package func isDevice(_ key: [UInt8]) async throws(DirectoryError) -> Bool {
        try await directory.isDevice(key)
    }

    package func signer(
        of signature: RequestSignature, _ content: RequestSignature.Content
    ) async throws(DirectoryError) -> Signer {
        try await directory.signer(of: signature, content)
    }

    package func admit(_ signer: Signer, protectsAccount: Bool) throws(DirectoryError) -> Caller {
        try directory.admit(signer, protectsAccount: protectsAccount)
    }

    package func register(
        _ submission: StateSubmission, _ signature: RequestSignature, _ content: RequestSignature.Content,
        admitting admission: RegistrationRight, onNewHolder: @escaping @Sendable () async -> Void
    ) async throws(DirectoryError) -> StateReceipt {
        try await directory.register(submission, signature, content, admitting: admission, onNewHolder: onNewHolder)
    }

    package func update(
        _ submission: StateSubmission, by caller: Caller
    ) async throws(DirectoryError) -> StateReceipt {
        try await directory.update(submission, by: caller)
    }

    package func addFriend(
        _ handle: Handle, by caller: Caller, saying body: [UInt8], from network: [UInt8]
    ) async throws(DirectoryError) -> FriendAnswer {
        try await directory.addFriend(handle, by: caller, saying: body, from: network)
    }

    package func blockFriend(_ handle: Handle, by caller: Caller) async throws(DirectoryError) -> FriendAnswer {
        try await directory.blockFriend(handle, by: caller)
    }

    package func acceptFriend(
        _ handle: Handle, by caller: Caller, saying body: [UInt8]
    ) async throws(DirectoryError) -> FriendAnswer {
        try await directory.acceptFriend(handle, by: caller, saying: body)
    }

    package func signedFriendRequest(
        of handle: Handle, to caller: Caller
    ) async throws(DirectoryError) -> [UInt8] {
        try await directory.signedFriendRequest(of: handle, to: caller)
    }

    package func friends(of caller: Caller, after handle: Handle?) async throws(DirectoryError) -> FriendList {
        try await directory.friends(of: caller, after: handle)
    }

    package func catchUp(to size: UInt64) async throws(DirectoryError) { try await directory.catchUp(to: size) }

    package func checkpoint() async throws(DirectoryError) -> [UInt8] { directory.log.published.bytes }

    /// Of several front ends, one that has not published a file yet does not say that there is none.
    package func tile(_ tile: Tile) async throws(DirectoryError) -> [UInt8]? {
        if let bytes = try await published(tile) { return bytes }
        guard directory.isBehind(tile.coveredSize) else { return nil }
        try await directory.catchUp(to: tile.coveredSize)
        return try await published(tile)
    }

    private func published(_ tile: Tile) async throws(DirectoryError) -> [UInt8]? {
        do throws(DurableLogReadError) {
            switch tile.content {
            case .hashes(let level):
                return try directory.log.tile(level: level, index: tile.index, width: tile.width)
            case .entries: return try await directory.log.entryBundle(index: tile.index, width: tile.width)
            }
        } catch {
            switch error {
            case .beyondPublished, .tile, .tree: return nil
            case .bundleDamaged, .file, .bundleUnavailable: throw .database
            }
        }
    }

    package func condition() async -> LogCondition {
        let (numbers, published) = (directory.log.statistics, directory.log.published)
        let isAlive = (try? await directory.log.awaitPublished(size: 0)) != nil
        // Where others write the log, that process and the database compare their clocks (``SharedLogWatch``).
        let epochTime = directory.writesLog ? directory.lastEpochTime : nil
        var displaced = directory.displaced
        displaced.open = displaced.open.map { "records/" + $0 }
        displaced.read = displaced.read.map { "records/" + $0 }
        return LogCondition(
            isAlive: isAlive, size: numbers.durableSize, publishedSize: published.head.size,
            checkpointTime: Self.time(of: published.note), epochTime: epochTime, displaced: displaced)
    }

    package func awaitFailure() async throws(DirectoryError) {
        do { _ = try await directory.log.awaitPublished(size: .max) } catch {
            if error == .stopped { throw .stopped }
        }
    }

    package func republish() async throws(DirectoryError) {
        do { try await directory.republish() } catch {
            switch error {
            case .stopped: throw .stopped
            case .belowQuorum: throw .refused(.unwitnessed)
            case .displaced: throw .refused(.unavailable)
            case .cancelled, .closed: return
            }
        }
    }

    /// Eight bytes of time, then 64 of signature.
    ///
    /// Spec: C2SP tlog-cosignature, "Format".
    private static let cosignatureByteCount = 72

    /// When our own cosigner signed; 0 without a cosigner.
    static func time(of note: SignedNote) -> UInt64 {
        note.signatures.filter { $0.blob.count == Self.cosignatureByteCount }
            .map { $0.blob.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }.max() ?? 0
    }
}

extension Tile {
    /// How large a log is at least that has this file; the largest number if no log is.
    fileprivate var coveredSize: UInt64 {
        let level = if case .hashes(let level) = content { level } else { 0 }
        let (start, isTooLarge) = index.multipliedReportingOverflow(by: UInt64(Tile.fullWidth))
        let (count, overflows) = start.addingReportingOverflow(UInt64(width))
        guard !isTooLarge, !overflows, level < 8, count <= UInt64.max >> UInt64(8 * level) else { return .max }
        return count << UInt64(8 * level)
    }
}
