// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// The style sheet, the script and the icons. They are part of the program, so that no file on the disk can replace them; they are the same for every
/// request, and need no session.
enum WebAssets {
    /// The first digits of the hash of all: a new version of the program has other paths.
    static let version: String = {
        var hash = SHA256()
        for name in files.keys.sorted() { hash.update(data: files[name] ?? []) }
        return String(decoding: Hex.encode(Array(hash.finalize())), as: UTF8.self).prefix(16).description
    }()

    static func answer(_ parts: [String]) -> WebAnswer {
        guard parts.first == version, let body = files[parts.dropFirst().joined(separator: "/")] else {
            return .plain(404, "There is no such file.")
        }
        let kinds = ["svg": "image/svg+xml", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"]
        let kind = parts.last?.split(separator: ".").last.flatMap { kinds[String($0)] }
        return WebAnswer(status: 200, mediaType: kind ?? "application/octet-stream", body: body, isLasting: true)
    }

    private static let files: [String: [UInt8]] = [
        "signet.css": PackageResources.signet_css, "signet.js": PackageResources.signet_js,
        "icons/call.svg": PackageResources.call_svg, "icons/card.svg": PackageResources.card_svg,
        "icons/end.svg": PackageResources.end_svg, "icons/mic.svg": PackageResources.mic_svg,
        "icons/meet.svg": PackageResources.meet_svg, "icons/muted.svg": PackageResources.muted_svg,
        "icons/site.svg": PackageResources.site_svg,
        "icons/alarm.svg": PackageResources.alarm_svg, "icons/back.svg": PackageResources.back_svg,
        "icons/changed.svg": PackageResources.changed_svg, "icons/check.svg": PackageResources.check_svg,
        "icons/clock.svg": PackageResources.clock_svg, "icons/comment.svg": PackageResources.comment_svg,
        "icons/compared.svg": PackageResources.compared_svg, "icons/cross.svg": PackageResources.cross_svg,
        "icons/device.svg": PackageResources.device_svg, "icons/dot.svg": PackageResources.dot_svg,
        "icons/file.svg": PackageResources.file_svg, "icons/guard.svg": PackageResources.guard_svg,
        "icons/home.svg": PackageResources.home_svg,
        "icons/info.svg": PackageResources.info_svg, "icons/known.svg": PackageResources.known_svg,
        "icons/lock.svg": PackageResources.lock_svg, "icons/new.svg": PackageResources.new_svg,
        "icons/next.svg": PackageResources.next_svg, "icons/note.svg": PackageResources.note_svg,
        "icons/offline.svg": PackageResources.offline_svg, "icons/people.svg": PackageResources.people_svg,
        "icons/plus.svg": PackageResources.plus_svg, "icons/seal.svg": PackageResources.seal_svg,
        "icons/search.svg": PackageResources.search_svg, "icons/settings.svg": PackageResources.settings_svg,
        "icons/share.svg": PackageResources.share_svg, "icons/star.svg": PackageResources.star_svg,
        "icons/starred.svg": PackageResources.starred_svg,
    ]
}
