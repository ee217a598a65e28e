// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import TransparencyLog

/// What the eCall guide's algorithm proved about a person's devices, and what it leaves open.
struct ECallPage {
    let handle: Handle
    let keys: [ECallVerifiedKey]

    func show(_ output: OutputOptions) {
        let devices = keys.map { key -> PrintedValue in
            [
                "label": .base64(key.label), "publicKey": .base64(key.publicKey),
                "size": .number(key.checkpoint.checkpoint.head.size),
            ]
        }
        output.emit(
            [
                "devices": .array(devices), "handle": .string(handle.description), "outcome": "ecall",
                "unproven": .array(unproven.map { .string($0.name) }),
            ], text(isAdvanced: output.advanced))
    }

    private var unproven: [ECallVerifiedKey.Unproven] { keys.first?.unproven ?? [] }

    private func text(isAdvanced: Bool) -> String {
        let paint = Paint.output
        let count = keys.count == 1 ? "1 device" : "\(keys.count) devices"
        let shown = isAdvanced ? keys.map { "    \(String(decoding: Base64.encode($0.publicKey), as: UTF8.self))" } : []
        return
            ([
                paint.strong(handle.description),
                "  \(paint.good("✓")) the directory names \(count), each of them in the log by the eCall guide's algorithm",
            ] + shown + ["", "Not proven in this way, but proven without --ecall:"] + unproven.map { "  - \($0.words)" }
            + ["Nothing was compared with what you accepted, and nothing was pinned."]).joined(separator: "\n")
    }
}

extension ECallVerifiedKey.Unproven {
    /// In JSON.
    fileprivate var name: String {
        switch self {
        case .labelBelongsToThePerson: "label-belongs-to-the-person"
        case .checkpointIsRecent: "checkpoint-is-recent"
        case .everyoneSeesTheSameLog: "everyone-sees-the-same-log"
        case .logOnlyGrew: "log-only-grew"
        case .deviceListIsComplete: "device-list-is-complete"
        }
    }

    fileprivate var words: String {
        switch self {
        case .labelBelongsToThePerson: "that these devices are this person's: the directory says so"
        case .checkpointIsRecent: "that this is still the case today"
        case .everyoneSeesTheSameLog: "that others are shown the same log"
        case .logOnlyGrew: "that the log still has what it showed before"
        case .deviceListIsComplete: "that no device is left out, and none was revoked"
        }
    }
}
