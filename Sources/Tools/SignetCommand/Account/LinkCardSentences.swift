// SPDX-License-Identifier: Apache-2.0

import Signet

extension LinkCardError {
    var status: ExitStatus {
        switch self {
        case .unknownFormat, .device, .checkpoint: .badFile
        case .anotherLog, .tooOld: .notProven
        }
    }

    var sentence: Sentence {
        switch self {
        case .unknownFormat:
            Sentence(
                "That is not a device card, or an earlier version of signet made it.",
                "Make one with 'signet account join' on the new device; both devices need this version of signet.")
        case .device(let error): error.sentence
        case .checkpoint:
            Sentence("The device card belongs to another directory.", "Join with the directory file of your account.")
        case .anotherLog:
            Sentence(
                "ALARM: the directory does not prove that the new device sees the same log as this device.",
                "Nothing was linked. Try again; if it fails again, do not use this directory.")
        case .tooOld(let time):
            Sentence(
                "The device card is too old: its log is from \(Moment.date(time)).",
                "Make a new one with 'signet account join' on the new device.")
        }
    }
}
