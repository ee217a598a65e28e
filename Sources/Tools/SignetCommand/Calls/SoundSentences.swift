// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Signet

extension CommandFailure {
    /// A file with sound that a call does not take.
    init(_ error: WAVError, path: String) { self.init(.badFile, error.sentence(PrintedValue.printable(path))) }

    init(_ error: SoundCodecError) {
        switch error {
        case .unavailable:
            self.init(.environment, "libopus, which encodes sound, is not installed here.", "Call with --source tone.")
        case .wrongSampleCount, .wrongByteCount, .malformed:
            self.init(.bug, "A piece of sound is malformed.", CommandFailure.bugRemedy)
        }
    }
}

extension WAVError {
    func sentence(_ path: String) -> Sentence {
        let remedy =
            "Make one with 'sox FILE -r 48000 -b 16 -c 1 OUT.wav' or 'ffmpeg -i FILE -ar 48000 -ac 1 -c:a pcm_s16le OUT.wav'."
        return switch self {
        case .malformed: Sentence("\(path) is not a WAV file.", remedy)
        case .cutShort: Sentence("\(path) ends before the sound that its header announces.", remedy)
        case .empty: Sentence("\(path) contains no sound.", "Name a file with sound in it.")
        case .wrongKind: Sentence("\(path) does not hold 16-bit PCM.", remedy)
        case .wrongRate(let rate): Sentence("\(path) has \(rate) samples per second; a call takes 48000.", remedy)
        case .wrongChannelCount(let count): Sentence("\(path) has \(count) channels; a call takes one or two.", remedy)
        }
    }
}
