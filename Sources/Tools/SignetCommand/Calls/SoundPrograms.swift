// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Foundation
import LocalWeb
import Platform
import SignetCalls
import Synchronization

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

    func talk(
        in call: GroupCall, isMuted: @escaping @Sendable () -> Bool, telling tell: @escaping @Sendable (String?) -> Void
    ) async {
        // A program that ends takes the call's sound away, not the call.
        signal(SIGPIPE, SIG_IGN)
        let (input, output) = (Pipe(), Pipe())
        let sound = Mutex(SoundTrouble())
        let note: @Sendable ((inout SoundTrouble) -> Void) -> Void = { change in
            tell(
                sound.withLock { trouble in
                    change(&trouble)
                    return trouble.sentence
                })
        }
        let programs = [
            ChildProgram(microphone, output: input.fileHandleForWriting) { note { $0.isMicrophoneOver = true } },
            ChildProgram(loudspeaker, input: output.fileHandleForReading) { note { $0.isLoudspeakerOver = true } },
        ]
        try? input.fileHandleForWriting.close()
        try? output.fileHandleForReading.close()
        let microphone = SoundInput(input.fileHandleForReading)
        let source = try? SoundSource(from: microphone)
        let heard = HeardSound(nil, SoundOutlet(output.fileHandleForWriting))
        await withTaskGroup(of: Void.self) { group in
            if let source {
                group.addTask {
                    await Self.speak(call, source, isMuted) { isSilent in note { $0.isMicrophoneSilent = isSilent } }
                }
            }
            group.addTask { await heard.play() }
            group.addTask {
                for await piece in call.sound { await heard.hear(piece.frame, of: piece.sender, await call.people) }
            }
        }
        microphone.end()
        for program in programs { await program?.end() }
        try? output.fileHandleForWriting.close()
    }

    func ring() async {
        signal(SIGPIPE, SIG_IGN)
        let output = Pipe()
        let program = ChildProgram(loudspeaker, input: output.fileHandleForReading) {}
        try? output.fileHandleForReading.close()
        let outlet = SoundOutlet(output.fileHandleForWriting)
        var (tone, due) = (RingTone(), ContinuousClock.now)
        while !Task.isCancelled, program != nil {
            outlet.write(tone.next())
            due += SoundSource.pause
            try? await Task.sleep(until: due, clock: .continuous)
        }
        try? output.fileHandleForWriting.close()
        await program?.end()
    }

    /// Silence while the user is muted: others see no difference in what is sent, and know that the way is there.
    ///
    /// - Parameter note: is told when nothing has come from the microphone for three seconds, and when something comes again.
    private static func speak(
        _ call: GroupCall, _ source: SoundSource, _ isMuted: @Sendable () -> Bool, _ note: @Sendable (Bool) -> Void
    ) async {
        var due = ContinuousClock.now
        var missing = 0
        while !Task.isCancelled {
            let piece = await source.next()
            if piece != nil, missing >= patience { note(false) }
            missing = piece == nil ? missing + 1 : 0
            if missing == patience { note(true) }
            if isMuted() || piece == nil && missing >= patience {
                if let silence = await source.silence() { await call.send(silence.encoded) }
            } else if let piece {
                await call.send(piece.encoded)
            }
            due += SoundSource.pause
            try? await Task.sleep(until: due, clock: .continuous)
        }
    }

    /// Three seconds, in pieces.
    private static let patience = 150
}

/// What is wrong with the programs of a call's sound.
private struct SoundTrouble: Sendable {
    var isMicrophoneOver = false
    var isMicrophoneSilent = false
    var isLoudspeakerOver = false

    var sentence: String? {
        let own: String? =
            isMicrophoneOver
            ? "The program of your microphone has ended: no one hears you."
            : isMicrophoneSilent ? "Nothing comes from your microphone: no one hears you." : nil
        let others = isLoudspeakerOver ? "The program of your loudspeaker has ended: you hear no one." : nil
        let all = [own, others].compactMap(\.self)
        return all.isEmpty ? nil : all.joined(separator: " ")
    }
}

/// A command of the user's, with every process that it starts.
private struct ChildProgram: Sendable {
    private let process: UncheckedProcess
    /// Whether it leads a group of processes, with what it starts.
    private let leadsGroup: Bool

    /// - Parameters:
    ///   - command: for the shell; nil: there is none.
    ///   - onEnd: is told that it has ended, by itself or not.
    init?(
        _ command: String?, input: FileHandle? = nil, output: FileHandle? = nil, onEnd: @escaping @Sendable () -> Void
    ) {
        guard let command else { return nil }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = RingHook.environment
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = output ?? FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.terminationHandler = { _ in onEnd() }
        guard (try? process.run()) != nil else { return nil }
        self.process = UncheckedProcess(process: process)
        leadsGroup = getpgid(process.processIdentifier) == process.processIdentifier
    }

    /// Ends it, and what it started. The number of a process that has ended may be another's by now; that of a group is not, while
    /// anything is in it.
    func end() async {
        let number = process.process.processIdentifier
        for signal in [SIGTERM, SIGKILL] where leadsGroup || process.process.isRunning {
            kill(leadsGroup ? -number : number, signal)
            for _ in 0..<20 where process.process.isRunning { await Self.pause() }
        }
    }

    /// Also in a task that was cancelled.
    private static func pause() async {
        await Task.detached { try? await Task.sleep(for: .milliseconds(50)) }.value
    }
}

/// Used by one task after the other.
private struct UncheckedProcess: @unchecked Sendable {
    let process: Process
}
