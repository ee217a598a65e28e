// SPDX-License-Identifier: Apache-2.0

import Foundation
import QRCode
import Testing

@Suite struct QRSymbolTests {
    /// Sizes from the standard's table 7, byte mode, level L.
    @Test(arguments: [
        (17, 1), (32, 2), (53, 3), (106, 5), (154, 7), (230, 9), (271, 10), (858, 20), (1732, 30), (2953, 40),
    ])
    func theSmallestVersionThatHoldsTheBytesIsUsed(_ count: Int, _ version: Int) throws {
        let full = try #require(QRSymbol([UInt8](repeating: 7, count: count)))
        #expect(full.side == 17 + 4 * version)
        let next = QRSymbol([UInt8](repeating: 7, count: count + 1))
        #expect(version == 40 ? next == nil : (next?.side ?? 0) > full.side)
    }

    /// zbarimg reads the drawn symbol, if it is installed (Scripts/setup installs it).
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zbarimg"), "no zbarimg here"))
    func zbarimgReadsEveryByte() throws {
        for count in [1, 17, 18, 100, 154, 155, 500, 1700, 2953] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            #expect(try Self.read(try #require(QRSymbol(bytes))) == bytes, "\(count) bytes")
        }
    }

    static func read(_ symbol: QRSymbol) throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appending(component: "\(UUID().uuidString).pgm")
        defer { try? FileManager.default.removeItem(at: file) }
        try image(of: symbol, scale: 4).write(to: file)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/zbarimg")
        process.arguments = ["--quiet", "--raw", "--oneshot", "-Sbinary", file.path()]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Array(bytes)
    }

    private static func image(of symbol: QRSymbol, scale: Int) -> Data {
        let side = (symbol.side + 8) * scale
        var data = Data("P5\n\(side) \(side)\n255\n".utf8)
        for row in 0..<side {
            for column in 0..<side {
                data.append(symbol.isDark(row: row / scale - 4, column: column / scale - 4) ? 0 : 255)
            }
        }
        return data
    }
}

extension QRSymbolTests {
    /// The picture is read from standard input, as `signet people verify --scan` does it.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zbarimg"), "no zbarimg here"))
    func zbarimgReadsThePNGFromStandardInput() throws {
        for count in [1, 100, 500, 1700] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            let picture = try #require(QRSymbol(bytes)).png(scale: 4)
            let (process, input, output) = (Process(), Pipe(), Pipe())
            process.executableURL = URL(filePath: "/usr/bin/zbarimg")
            process.arguments = ["--quiet", "--raw", "--oneshot", "-Sdisable", "-Sqrcode.enable", "-Sbinary", "png:-"]
            process.standardInput = input
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data(picture))
            try input.fileHandleForWriting.close()
            #expect(Array(output.fileHandleForReading.readDataToEndOfFile()) == bytes, "\(count) bytes")
            process.waitUntilExit()
        }
    }

    /// Light modules are drawn in the colour of text, which therefore has to be the light one.
    @Test func theTerminalTextIsDarkOnLight() throws {
        let symbol = try #require(QRSymbol([1, 2, 3]))
        let lines = symbol.terminalText.split(separator: "\n")
        #expect(lines.count == symbol.text.split(separator: "\n").count)
        #expect(lines.allSatisfy { $0.hasPrefix("\u{1B}[97;40m") && $0.hasSuffix("\u{1B}[0m") })
    }
}
