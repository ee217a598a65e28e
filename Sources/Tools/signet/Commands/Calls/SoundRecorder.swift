import CallClient
import CallSignalling
import Foundation
import Synchronization

/// Keeps what is heard: for each device a file of samples, in order of number; what was lost is silence.
final class SoundRecorder: Sendable {
    private struct Track: Sendable {
        let file: FileHandle
        let first: UInt32
    }

    /// A day of frames of 20 milliseconds.
    private static let maximumFrameCount: UInt32 = 24 * 3600 * 50

    private let folder: URL
    private let tracks = Mutex<[CallDevice: Track]>([:])

    /// - Throws: `CommandFailure`: the folder cannot be made.
    init(folder: String) throws {
        self.folder = URL(filePath: folder)
        do {
            try FileManager.default.createDirectory(
                at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(
                .environment, "Cannot make \(JSONValue.printable(folder)).", "Give --record a folder that is yours.")
        }
    }

    /// A disk that is full ends the recording, not the call.
    func keep(_ frame: AudioFrame, of device: CallDevice, _ people: CallPeople) {
        tracks.withLock { tracks in
            guard let track = tracks[device] ?? begin(device, at: frame.number, people) else { return }
            tracks[device] = track
            // Numbers are the sender's: none makes the file longer than the call can have been.
            guard frame.number >= track.first, frame.number - track.first < Self.maximumFrameCount else { return }
            let offset = UInt64(frame.number - track.first) * UInt64(SoundSource.byteCount)
            try? track.file.seek(toOffset: offset)
            try? track.file.write(contentsOf: Data(frame.sound))
        }
    }

    private func begin(_ device: CallDevice, at number: UInt32, _ people: CallPeople) -> Track? {
        guard let person = people[device] else { return nil }
        let file = folder.appending(component: "\(person.handle)-\(person.deviceNumber).pcm")
        guard
            FileManager.default.createFile(
                atPath: file.path(percentEncoded: false), contents: nil, attributes: [.posixPermissions: 0o600]),
            let handle = try? FileHandle(forWritingTo: file)
        else { return nil }
        return Track(file: handle, first: number)
    }
}
