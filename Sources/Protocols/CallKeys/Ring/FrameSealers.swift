// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import SFrame

/// Every sealer that a device ever made in a call: the only place where one is made, and at most one for each key.
///
/// A key seals from its first frame on with one counter. When the key is wiped its sealer goes with it, and its name
/// stays: should the same secret come back by any route, it opens frames and seals none.
///
/// Security: a reference, so that copies of a participant share counters from before the first frame on.
final class FrameSealers {
    /// A key to seal with.
    struct Name: Hashable {
        let generation: Generation
        let step: UInt8
        let index: UInt16
        let context: MediaContext

        init(_ scope: CallScope, step: UInt8, index: UInt16, context: MediaContext) {
            generation = Generation(scope)
            self.step = step
            self.index = index
            self.context = context
        }
    }

    /// One secret of a host's, in the one call that this is about.
    struct Generation: Hashable {
        let term: UInt32
        let number: UInt32

        init(_ scope: CallScope) { (term, number) = (scope.term, scope.generation) }
    }

    private enum State {
        case live(FrameSealer)
        case over
    }

    private var states: [Name: State] = [:]
    /// Generations that are over of which any key was used.
    private var over: Set<Generation> = []

    /// Keys that are still there.
    var liveCount: Int { states.values.count { if case .live = $0 { true } else { false } } }

    /// Whether a key of this tenure was ever used.
    func hasUsed(term: UInt32) -> Bool {
        over.contains { $0.term == term } || states.keys.contains { $0.generation.term == term }
    }

    /// The sealer of a key; nil if the key was used and is over, or if there is none.
    func sealer(_ name: Name, key: () -> FrameKey?) -> FrameSealer? {
        switch states[name] {
        case .live(let sealer): return sealer
        case .over: return nil
        case nil: break
        }
        guard !over.contains(name.generation), let key = key() else { return nil }
        let sealer = FrameSealer(key: key)
        states[name] = .live(sealer)
        return sealer
    }

    /// A step's keys are wiped.
    func end(_ scope: CallScope, step: UInt8) {
        let generation = Generation(scope)
        for name in states.keys where name.generation == generation && name.step == step { states[name] = .over }
    }

    /// A generation's keys are wiped.
    func end(_ scope: CallScope) {
        let generation = Generation(scope)
        let used = states.keys.filter { $0.generation == generation }
        guard !used.isEmpty else { return }
        over.insert(generation)
        for name in used { states[name] = nil }
    }
}
