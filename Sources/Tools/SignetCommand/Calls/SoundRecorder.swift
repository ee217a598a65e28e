// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import CallSignalling
import Foundation
import SignetCalls

/// Keeps what is heard: a WAV file for each device; what was lost is silence.
struct SoundRecorder: Sendable {
    /// A day of pieces of 20 milliseconds.
    private static let maximumPieceCount = 24 * 3600 * 50

    private let folder: URL

    /// - Throws: `CommandFailure`: the folder cannot be made.
    init(folder: String) throws {
        self.folder = URL(filePath: folder)
        do {
            try FileManager.default.createDirectory(
                at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(
                .environment, "Cannot make \(PrintedValue.printable(folder)).", "Give --record a folder that you own.")
        }
    }

    /// The file of a device; nil if it cannot be made.
    func begin(_ person: CallPerson) -> FileHandle? {
        let file = folder.appending(component: "\(person.handle)-\(person.deviceNumber).wav")
        guard
            FileManager.default.createFile(
                atPath: file.path(percentEncoded: false), contents: nil, attributes: [.posixPermissions: 0o600])
        else { return nil }
        return try? FileHandle(forWritingTo: file)
    }

    /// Puts a piece into its place. A disk that is full ends the recording, not the call.
    ///
    /// Places come from the sender's numbers: none makes the file longer than a call can be.
    static func write(_ piece: HeardTrack.Piece, to file: FileHandle) {
        guard piece.place < maximumPieceCount else { return }
        let offset = WAVFile.headerByteCount + piece.place * SoundFormat.byteCount
        try? file.seek(toOffset: UInt64(offset))
        try? file.write(contentsOf: Data(SoundFormat.bytes(piece.samples)))
        // Once a second, for a call that ends without a farewell.
        if piece.place.isMultiple(of: 50) { finish(file) }
    }

    /// Writes the header of what is there.
    static func finish(_ file: FileHandle) {
        guard let end = try? file.seekToEnd() else { return }
        let header = WAVFile.header(sampleCount: max(0, Int(end) - WAVFile.headerByteCount) / 2)
        try? file.seek(toOffset: 0)
        try? file.write(contentsOf: Data(header))
    }
}
