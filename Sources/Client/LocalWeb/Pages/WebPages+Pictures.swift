// SPDX-License-Identifier: Apache-2.0

import Signet

/// Pictures of codes: a file, or what the camera of a telephone takes when the field is pressed.
extension WebPages {
    func picture(_ label: HTML) -> HTML {
        guard account.equipment.pictures != nil else { return .none }
        return """
            <div class="field"><label for="picture">\(label)</label><input id="picture" name="picture" type="file" \
            accept="image/png,image/jpeg"><p class="help">PNG or JPEG, straight and sharp. It stays on this device.</p></div>
            """
    }

    /// What the code in a form's picture says; nil if there is no picture.
    func scanned(_ form: FormBody) throws(PictureRefusal) -> [UInt8]? {
        guard let file = form.file("picture"), !file.content.isEmpty else { return nil }
        guard let reader = account.equipment.pictures else {
            throw PictureRefusal(Advice("This program reads no pictures.", "Type it instead."))
        }
        return try reader.code(in: Array(file.content))
    }
}
