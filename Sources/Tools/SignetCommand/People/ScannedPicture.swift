// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalWeb
import Signet

/// Reads the QR code in a picture, with Debian's `zbarimg`: a process of its own, started without a shell, that gets the
/// picture on its standard input. No name of a file reaches it, since the library behind it reads some names as commands.
enum ScannedPicture {
    private static let maximumByteCount = 16 << 20
    /// How files begin, by the name under which the library reads them.
    private static let signatures: [(kind: String, bytes: [UInt8])] = [
        ("png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), ("jpeg", [0xFF, 0xD8, 0xFF]),
    ]

    /// Whether a file is a picture that is read.
    static func isPicture(_ bytes: [UInt8]) -> Bool { signatures.contains { bytes.starts(with: $0.bytes) } }

    /// The bytes in the one QR code of a picture.
    ///
    /// - Throws: `CommandFailure`: no PNG or JPEG, no program to read it with, or no code in it.
    static func read(_ path: String) throws -> [UInt8] {
        try code(in: try InputFile.read(path, maximumByteCount: maximumByteCount), named: PrintedValue.printable(path))
    }

    /// The same of a picture that was read.
    static func code(in picture: [UInt8], named path: String) throws -> [UInt8] {
        guard let kind = signatures.first(where: { picture.starts(with: $0.bytes) })?.kind else {
            throw CommandFailure(
                .badFile, "\(path.prefix(1).uppercased() + path.dropFirst()) is not a PNG or JPEG picture.",
                "Save the picture as PNG.")
        }
        guard let program = InstalledProgram.find("zbarimg") else {
            throw CommandFailure(
                .environment, "zbarimg, which reads pictures, is not installed on this machine.",
                "Install it (Debian: apt-get install zbar-tools), or compare the digits.")
        }
        let bytes = try run(program, on: picture, as: kind)
        guard !bytes.isEmpty else {
            throw CommandFailure(
                .badFile, "No QR code in \(path) can be read.",
                "Take the picture again, straight and sharp, with a white border around the code.")
        }
        return bytes
    }

    private static func run(_ program: URL, on picture: [UInt8], as kind: String) throws -> [UInt8] {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = program
        process.arguments = [
            "--quiet", "--raw", "--oneshot", "-Sdisable", "-Sqrcode.enable", "-Sbinary", "\(kind):-",
        ]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch {
            throw CommandFailure(.environment, "\(program.path()) cannot be started.", "Install zbar-tools again.")
        }
        // It reads all of the picture before it writes, and what it writes fits a pipe.
        try? input.fileHandleForWriting.write(contentsOf: Data(picture))
        try? input.fileHandleForWriting.close()
        let bytes = (try? output.fileHandleForReading.read(upToCount: 4096)) ?? nil
        try? output.fileHandleForReading.close()
        process.waitUntilExit()
        return Array(bytes ?? Data())
    }
}

/// The same for the app.
struct ScannedPictures: PictureReader {
    func code(in picture: [UInt8]) throws(PictureRefusal) -> [UInt8] {
        do { return try ScannedPicture.code(in: picture, named: "the picture") } catch let failure as CommandFailure {
            throw PictureRefusal(Advice(failure.sentence.what, failure.sentence.remedy))
        } catch { throw PictureRefusal(Advice("The picture cannot be read.", "Try another one.")) }
    }
}
