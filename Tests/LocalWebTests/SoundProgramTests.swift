// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import Signet
import SignetCalls
import SignetTesting
import Testing

@testable import LocalWeb
@testable import SignetCommand

/// The programs that are a call's microphone and loudspeaker.
@Suite(.serialized) struct SoundProgramTests {
    /// Alice calls bob, who joins, with these programs; afterwards nothing that they started runs.
    private static func run(
        _ microphone: String, _ loudspeaker: String,
        _ body: @Sendable @escaping (Browser, GroupCall) async throws -> Void
    ) async throws {
        let voice = SoundPrograms(microphone: microphone, loudspeaker: loudspeaker)
        try await Stage.run(with: WebEquipment(voice: voice)) { stage in
            let browser = try await stage.befriended()
            let listener = try await stage.bob.incomingCalls()
            _ = try await browser.act("calls/new", [("who", Stage.bob)], from: "calls")
            var incoming: IncomingCall?
            for await event in listener.events {
                guard case .ringing(let call) = event else { continue }
                incoming = call
                break
            }
            let answered = try await stage.bob.accept(try #require(incoming), from: listener)
            try await body(browser, answered)
            _ = try await browser.act("calls/now/steer", [("act", "leave")], from: "calls/now")
            try await browser.wait(for: "You left, today", on: "calls")
            await answered.leave()
        }
    }

    /// The processes whose command line has a word.
    private static func running(_ word: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.filter { number in
            let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
            return String(decoding: line, as: UTF8.self).contains(word)
        }
    }

    @Test(.timeLimit(.minutes(5))) func aProgramThatEndsIsSaid_andTheCallGoesOn() async throws {
        try await Self.run("exit 3", "exit 3") { browser, answered in
            try await browser.wait(for: "The program of your microphone has ended: no one hears you.", on: "calls/now")
            try await browser.wait(for: "The program of your loudspeaker has ended: you hear no one.", on: "calls/now")
            var heard = answered.sound.makeAsyncIterator()
            _ = try #require(await heard.next(), "silence is sent")
        }
    }

    @Test(.timeLimit(.minutes(5))) func aMicrophoneThatSaysNothingIsSaid_andNoProgramOutlivesTheCall() async throws {
        let mark = "9\(Int.random(in: 100_000...999_999))"
        try await Self.run("sleep \(mark); true", "sleep \(mark); true") { browser, _ in
            try await browser.wait(for: "Nothing comes from your microphone: no one hears you.", on: "calls/now")
            #expect(try Self.running(mark).count == 4, "two shells, and what each has started")
        }
        #expect(try Self.running(mark).isEmpty)
    }

    /// It is faster than it is read.
    @Test(.timeLimit(.minutes(5))) func aMicrophoneThatNeverStopsEndsWithTheCall() async throws {
        let mark = "8\(Int.random(in: 100_000...999_999))"
        try await Self.run("exec dd if=/dev/zero bs=\(mark) status=none", "exec cat >/dev/null") { browser, answered in
            var heard = answered.sound.makeAsyncIterator()
            _ = try #require(await heard.next())
            #expect(try Self.running(mark).count == 1)
        }
        #expect(try Self.running(mark).isEmpty)
    }

    /// The loudspeaker rings while somebody calls, and its program ends with the ringing.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false]) func theLoudspeakerRings_untilTheCallIsAnsweredOrGone(
        isDeclined: Bool
    ) async throws {
        try await withFolder { folder in
            let heard = folder + "/heard"
            let voice = SoundPrograms(microphone: nil, loudspeaker: "cat >'\(heard)'; true")
            try await Stage.run(with: WebEquipment(voice: voice)) { stage in
                let browser = try await stage.befriended()
                try await browser.wait(for: "Whom to call", on: "calls")
                let people = try await stage.bob.peopleForCall([Handle(Stage.alice)])
                let call = try await stage.bob.call(people)
                let page = try await browser.wait(for: "bob@example.org is calling", on: "calls")
                while try Self.peak(heard) < 4000 { try await Task.sleep(for: .milliseconds(20)) }
                #expect(try Self.running(heard).count == 1)
                if isDeclined {
                    let name = try #require(page.value(of: "call"))
                    _ = try await browser.act("calls/answer", [("call", name), ("answer", "decline")], from: "calls")
                } else {
                    await call.leave()
                    try await browser.wait(for: "You missed a call from bob@example.org", on: "calls")
                }
                while try !Self.running(heard).isEmpty { try await Task.sleep(for: .milliseconds(20)) }
                await call.leave()
            }
        }
    }

    /// The loudest sample of 16 bits, little-endian, in a file.
    private static func peak(_ path: String) throws -> Int {
        let bytes = [UInt8](FileManager.default.contents(atPath: path) ?? Data())
        return stride(from: 0, to: bytes.count - 1, by: 2).map { place in
            abs(Int(Int16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8)))
        }.max() ?? 0
    }
}
