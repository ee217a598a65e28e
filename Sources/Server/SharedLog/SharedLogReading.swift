// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
package import LogEngine
import LogFencing
import SQLStores
import TransparencyLog

/// Why a shared log could not be read whole.
package enum SharedLogOpenError: Error, Hashable, Sendable {
    /// The frames are not those of a log of ours.
    case log(LogOpenError)
    /// What the database holds, or that it does not answer.
    case fault(SharedLogFault)
}

extension SharedLogEngines {
    /// Reads the log from its beginning to a size at which a frame ends: what this machine kept of it, and the rest from the database.
    ///
    /// - Throws: ``SharedLogOpenError``.
    func replay(
        to end: UInt64, sealing: (any LogSealing)?, shown: UInt64, placed: UInt64, by kept: KeptFrames? = nil
    ) async throws(SharedLogOpenError) -> FrameReplay {
        do throws(SharedLogOpenError) {
            return try await replayOnce(to: end, sealing, shown, placed, kept)
        } catch {
            guard case .log(.breaksRule(let fault)) = error, sealing?.beginsAgain(after: fault) == true else {
                throw error
            }
            return try await replayOnce(to: end, sealing, shown, placed, kept)
        }
    }

    /// Reads the log up to a checkpoint. What this machine kept is believed nothing: with it and the rest the root of the checkpoint has to
    /// come out, or it is forgotten and the whole log comes from the database.
    ///
    /// - Throws: ``SharedLogOpenError``. Whether the database's own frames make the root is for the caller to ask.
    func replay(
        to shown: TreeHead, sealing: (any LogSealing)?, by kept: KeptFrames?
    ) async throws(SharedLogOpenError) -> FrameReplay {
        let size = shown.size
        if let kept, !kept.isEmpty {
            do throws(SharedLogOpenError) {
                let replay = try await replay(to: size, sealing: sealing, shown: size, placed: size, by: kept)
                guard replay.root(size: size) == shown.root else { throw .fault(.rootDiffers(size: size)) }
                return replay
            } catch {
                if case .fault(.unavailable) = error { throw error }
                kept.forget(because: "\(error)")
                sealing?.beginAgain()
            }
        }
        return try await replay(to: size, sealing: sealing, shown: size, placed: size, by: kept)
    }

    private func replayOnce(
        to end: UInt64, _ sealing: (any LogSealing)?, _ shown: UInt64, _ placed: UInt64, _ kept: KeptFrames?
    ) async throws(SharedLogOpenError) -> FrameReplay {
        let replay = FrameReplay(sealing: sealing, shown: shown, placed: placed)
        do throws(KeptFrames.Refusal) {
            try kept?.read(upTo: end) { (frame) throws(LogOpenError) in try replay.take(frame) }
        } catch {
            switch error {
            case .ahead(let size, let shown): throw .fault(.shrinks(from: size, to: shown))
            case .log(let error): throw .log(error)
            }
        }
        while replay.size < end {
            let frames: [Frame]
            do throws(SharedLogFault) { frames = try await self.frames(from: replay.size, to: end) } catch {
                throw .fault(error)
            }
            do throws(LogOpenError) { for frame in frames { try replay.take(frame) } } catch { throw .log(error) }
            await kept?.keep(frames)
        }
        guard replay.size == end else { throw .fault(.frameDamaged(firstIndex: end)) }
        do throws(LogOpenError) { try replay.finish() } catch { throw .log(error) }
        return replay
    }

    /// Some of the next frames, at least one.
    ///
    /// - Throws: ``SharedLogFault``; it is passing if the server that answers has not committed so much: another one has named the end.
    package func frames(from start: UInt64, to end: UInt64) async throws(SharedLogFault) -> [Frame] {
        try await asking {
            try await database.read { transaction in
                guard try SharedLogRow.read(transaction).row.head.size > start else {
                    throw SharedLogFault.unavailable("database: an older copy")
                }
                return try transaction.nextFrames(from: start, to: end)
            }
        }
    }
}

extension SQLTransaction {
    /// How many frames are read in one go: each may have 8 MiB.
    private static let framesAtOnce = 16

    /// Some of the next frames up to a size, at least one if it is not reached yet.
    ///
    /// - Throws: ``SharedLogFault``.
    func nextFrames(from start: UInt64, to end: UInt64) throws -> [Frame] {
        guard start < end else { return [] }
        let frames = try frames(from: start, to: end, limit: Self.framesAtOnce)
        guard !frames.isEmpty else { throw SharedLogFault.frameMissing(firstIndex: start) }
        return frames
    }
}
