// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import CallSignalling
import Foundation
import SignetCalls

/// What is heard in a call: decoded, recorded and played.
actor HeardSound {
    private struct Speaker {
        let track: HeardTrack
        let file: FileHandle?
    }

    private let recorder: SoundRecorder?
    private let outlet: SoundOutlet?
    private var speakers: [CallDevice: Speaker] = [:]
    private var mixer = SoundMixer<CallDevice>()

    init(_ recorder: SoundRecorder?, _ outlet: SoundOutlet?) {
        self.recorder = recorder
        self.outlet = outlet
    }

    func hear(_ frame: AudioFrame, of device: CallDevice, _ people: CallPeople) {
        guard recorder != nil || outlet != nil, let person = people[device],
            let piece = SoundPiece(decoding: frame.sound), let speaker = speakers[device] ?? begin(person)
        else { return }
        speakers[device] = speaker
        take(speaker.track.take(frame.number, piece), of: device, speaker)
    }

    private func begin(_ person: CallPerson) -> Speaker? {
        guard let track = try? HeardTrack() else { return nil }
        return Speaker(track: track, file: recorder?.begin(person))
    }

    private func take(_ pieces: [HeardTrack.Piece], of device: CallDevice, _ speaker: Speaker) {
        for piece in pieces {
            if let file = speaker.file { SoundRecorder.write(piece, to: file) }
            if outlet != nil { mixer.add(piece.samples, of: device) }
        }
    }

    /// Plays the sound of all participants, 20 ms every 20 ms, until the task is cancelled.
    func play() async {
        guard let outlet else { return }
        var due = ContinuousClock.now
        while !Task.isCancelled {
            outlet.write(mixer.next())
            due += SoundSource.pause
            try? await Task.sleep(until: due, clock: .continuous)
        }
    }

    /// Writes down what still waited for something before it.
    func finish() {
        for (device, speaker) in speakers {
            take(speaker.track.finish(), of: device, speaker)
            if let file = speaker.file { SoundRecorder.finish(file) }
        }
    }
}
