// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog

@testable import SealedNotes

@Sendable func noteRecordParsers() -> [Parser] {
    [
        .canonical("wrap", WrapRecord.init(decoding:), \.encoded),
        .canonical("control entry", ControlEntry.init(decoding:), \.encoded),
        .canonical("revision", RevisionRecord.init(decoding:), \.encoded),
        .canonical("child", ChildRecord.init(decoding:), \.encoded),
        .canonical("list of children", ChildList.init(decoding:), \.encoded),
        .canonical("account head", AccountHead.init(decoding:), \.encoded),
        .canonical("heads of notes", NoteHeads.init(decoding:), \.encoded),
        .canonical("own wrap", OwnWrap.init(decoding:), \.encoded),
        .canonical("wrap of an account's key", AccountKeyWrap.init(decoding:), \.encoded),
        .canonical("wrap for a device", AccountDeviceWrap.init(decoding:), \.encoded),
    ]
}

/// What another member of a note seals, behind the seal.
@Sendable func noteContentParsers() -> [Parser] {
    [
        .canonical("document", { try NoteDocument(decoding: $0[...]) }, { try $0.encoded() }),
        .canonical("comment or star", { try ChildContent(decoding: $0[...]) }, { try $0.encoded() }),
        .canonical("padding", { Padding.unpad($0) }, { Padding.pad(Array($0)) }),
        Parser("login key, typed") { (try? LoginKey(typed: $0)) != nil },
        Parser("recovery key, typed") { (try? RecoveryKey(typed: $0)) != nil },
    ]
}

/// Texts of three devices.
@Sendable func mergeParsers() -> [Parser] {
    [
        Parser("three texts, joined") { bytes in
            let texts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).map { Array($0) }
            guard texts.count == 3 else { return false }
            let joined = LineMerge.merge(base: texts[0], mine: texts[1], theirs: texts[2])
            let mirrored = LineMerge.merge(base: texts[0], mine: texts[2], theirs: texts[1])
            if joined != mirrored { fatalError("three texts: it matters who joins them") }
            return joined != nil
        }
    ]
}
