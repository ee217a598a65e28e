// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Foundation
import LocalWeb
import Platform
import SignetCalls

/// A microphone and a loudspeaker, which are programs: raw samples of 16 bits, little-endian, 48,000 a second, one channel.
///
/// Security: the programs get what is named in ``RingHook/names`` of the environment, so nothing that was in this program's and is secret.
struct SoundPrograms: CallVoice {
    private let microphone: String?
    private let loudspeaker: String?

    /// The programs that the user named, or those of ALSA, if they are installed.
    init(microphone: String?, loudspeaker: String?) {
        let format = "-q -t raw -f S16_LE -r 48000 -c 1"
        self.microphone = microphone ?? InstalledProgram.find("arecord").map { "exec '\($0.path())' \(format)" }
        self.loudspeaker = loudspeaker ?? InstalledProgram.find("aplay").map { "exec '\($0.path())' \(format)" }
    }

    var shortcoming: String? {
        guard (try? SoundEncoder()) != nil else {
            return "libopus, which encodes sound, is not installed: no one hears you, and you hear no one."
        }
        let install = "Install alsa-utils, or start with --microphone and --loudspeaker."
        return switch (microphone, loudspeaker) {
        case (nil, nil): "This machine has no program for sound: no one hears you, and you hear no one. \(install)"
        case (nil, _?): "This machine has no program for a microphone: no one hears you. \(install)"
        case (_?, nil): "This machine has no program for a loudspeaker: you hear no one. \(install)"
        case (_?, _?): nil
        }
    }

    func talk(in call: GroupCall, isMuted: @escaping @Sendable () -> Bool) async {
        // A program that ends takes the call's sound away, not the call.
        signal(SIGPIPE, SIG_IGN)
        let (input, output) = (Pipe(), Pipe())
        let programs = [
            Self.start(microphone, output: input.fileHandleForWriting),
            Self.start(loudspeaker, input: output.fileHandleForReading),
        ]
        try? input.fileHandleForWriting.close()
        try? output.fileHandleForReading.close()
        let source = try? SoundSource(from: SoundInput(input.fileHandleForReading))
        let sound = HeardSound(nil, SoundOutlet(output.fileHandleForWriting))
        await withTaskGroup(of: Void.self) { group in
            if let source { group.addTask { await Self.speak(call, source, isMuted) } }
            group.addTask { await sound.play() }
            group.addTask {
                for await heard in call.sound { await sound.hear(heard.frame, of: heard.sender, await call.people) }
            }
        }
        for program in programs { program?.terminate() }
        try? output.fileHandleForWriting.close()
    }

    /// Silence while the user is muted: others see no difference in what is sent, and know that the way is there.
    private static func speak(_ call: GroupCall, _ source: SoundSource, _ isMuted: @Sendable () -> Bool) async {
        var due = ContinuousClock.now
        while !Task.isCancelled {
            let piece = await source.next()
            if isMuted() {
                if let silence = await source.silence() { await call.send(silence.encoded) }
            } else if let piece {
                await call.send(piece.encoded)
            }
            due += SoundSource.pause
            try? await Task.sleep(until: due, clock: .continuous)
        }
    }

    private static func start(_ command: String?, input: FileHandle? = nil, output: FileHandle? = nil) -> Process? {
        guard let command else { return nil }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = RingHook.environment
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = output ?? FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return (try? process.run()).map { process }
    }
}
