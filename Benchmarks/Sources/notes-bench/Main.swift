// SPDX-License-Identifier: Apache-2.0

import PaperDirectory

/// What sealed notes cost beside the bare cipher of swift-crypto.
@main struct NotesBench {
    static func main() throws {
        try CellCost(1024).report()
        try CellCost(65_536).report()
        if let themis = ThemisPeer.load() {
            try themis.report(1024)
            try themis.report(65_536)
        }
        try AttachmentCost().report()
        try WrapCost(PaperLookup(labelCount: 1)).report()
        try LoginCost().report()
        try ThemisCost().report()
    }
}
