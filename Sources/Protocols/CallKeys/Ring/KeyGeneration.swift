// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto

/// One secret of the host's, with the steps of it that are still needed.
struct KeyGeneration {
    let scope: CallScope
    /// Whose frames are opened, by the number that the frames carry.
    var members: [UInt16: CallDevice]
    /// The first step that this device was given: frames of an earlier one were never meant for it.
    let firstStep: UInt8
    /// What the host announced of the secret, 32 bytes; nil where it came at a later step, from which that cannot be told.
    let commitment: [UInt8]?
    let installedAt: UInt64
    /// Whether the host gave it, or a frame of the host's opened under it; until then another secret may take its place.
    var isProven: Bool
    /// When a later generation took over.
    var retiredAt: UInt64?
    /// Key ids that were derived.
    var keyIDs: Set<UInt64> = []
    /// When each sender's first and last frame was opened.
    private(set) var heard: [UInt16: (first: UInt64, last: UInt64)] = [:]
    private(set) var headStep: UInt8
    private var head: GroupSecret
    private var mediaKeys: [UInt8: (key: SymmetricKey, replacedAt: UInt64?)]

    init(
        _ scope: CallScope, step: UInt8, secret: GroupSecret, members: [UInt16: CallDevice], isProven: Bool,
        at now: UInt64
    ) {
        self.scope = scope
        self.members = members
        self.isProven = isProven
        firstStep = step
        commitment = step == 0 ? secret.commitment(in: scope) : nil
        installedAt = now
        headStep = step
        head = secret
        mediaKeys = [step: (secret.mediaKey(step: step, in: scope), nil)]
    }

    /// The newest epoch and its secret: what another member may be given.
    var newest: (epoch: Epoch, secret: GroupSecret) { (scope.epoch(headStep), head) }

    /// Whether a secret of any step is of the same generation as this one: the earlier of the two is turned up to the later.
    func isSame(as other: GroupSecret, at step: UInt8) -> Bool {
        let later = max(step, headStep)
        return turned(other, from: step, to: later) == secret(ahead: later)
    }

    func mediaKey(_ step: UInt8) -> SymmetricKey? { mediaKeys[step]?.key }

    /// The media key of a step that is not reached yet; nothing is kept.
    func mediaKey(ahead step: UInt8) -> SymmetricKey {
        secret(ahead: step).mediaKey(step: step, in: scope)
    }

    /// Turns the secret up to `step`; the steps between stay readable, the secrets behind them are gone.
    mutating func advance(to step: UInt8, at now: UInt64) {
        while headStep < min(step, Epoch.lastStep) {
            mediaKeys[headStep]?.replacedAt = now
            head = head.turned(from: headStep, in: scope)
            headStep += 1
            mediaKeys[headStep] = (head.mediaKey(step: headStep, in: scope), nil)
        }
    }

    /// Forgets steps that were replaced before `limit`; returns them.
    mutating func forgetSteps(replacedBefore limit: UInt64) -> [UInt8] {
        let old = mediaKeys.filter { ($0.value.replacedAt ?? .max) < limit }.map(\.key)
        for step in old { mediaKeys[step] = nil }
        return old
    }

    mutating func hear(_ index: UInt16, at now: UInt64) {
        heard[index] = (heard[index]?.first ?? now, now)
    }

    private func secret(ahead step: UInt8) -> GroupSecret { turned(head, from: headStep, to: step) }

    private func turned(_ secret: GroupSecret, from first: UInt8, to step: UInt8) -> GroupSecret {
        var (secret, reached) = (secret, first)
        while reached < step {
            secret = secret.turned(from: reached, in: scope)
            reached += 1
        }
        return secret
    }
}
