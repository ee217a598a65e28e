import CanonicalCoding

/// The account states' signatures, made once: ECDSA never gives the same one twice, and a published set must.
enum LookupVectorSignatures {
    /// The signatures by the SHA-256 of what they sign.
    static func table() throws -> [[UInt8]: [UInt8]] {
        var table: [[UInt8]: [UInt8]] = [:]
        for line in lines {
            let parts = try line.split(separator: " ").map { try Hex.decode(Array($0.utf8)) }
            table[parts[0]] = parts[1]
        }
        return table
    }

    private static let lines = [
        "e03e103ca91140b1e449d003f00947db20960a338c58bab51d4ce8273df5e5e7"
            + " 0f18ed3d5948d6f671200cccf9f9b8cc027065cbda31a3a3a790afa744dcc16b"
            + "3cb94eac35993447971cf51d05837634d271f9e7dccaf7ae32055054838fd768",
        "8e60f86b66763e7624061c4fa318fcd605e6801db8e0f7b57fc94eb8f94fa640"
            + " 123284712c631bf109885e2e7dd4066b2586a96ea66564a20411665419e79f58"
            + "c5d00e5f9f62067c355639848f8a856ba9c3538525de5d91bdfe946294ff5716",
        "a401518044284100b836c794357888ba89dc340eab3734dc402bbfbc1b6bc980"
            + " 1856767c2e4fb439e86775e3252ac30f62febd52153c18a4328298019961ff6c"
            + "f3cec6947dc70f3fe5ed8947b37e45592e66de02074e660186498eb3b6528e0b",
        "f45db6db2aa9c41c293588840cf0b4fbf965db7ba2935d648fc1c5e0ebc0b4b3"
            + " b4defa1fe858684b6962b650d287425a3fbfc152f51e1c4abc3440de76483d49"
            + "568a09c62f81c02d209c6845abae5cb0c639e44931cc13f5808377987ca97b05",
        "4f8faa25514952783f0362d58f072a1424266061f94d3fcb12290b2906955656"
            + " 168f1b319e99529d02e5f19a5c23ffca81dbce11df05e195d899ab46c9eda89d"
            + "60d4558180751fed977ae9f1a3cbc017e7d696deb348013095de194a077deed5",
        "c47473a2d9fcf3a0d2feeba970bee1d2e926a005285c0e00c76f65858dfb906e"
            + " da2fb91710a5a42f20cf190283ab60741ada5efdc14f41a81640326cccc7ba09"
            + "712abdec17479fc84cb778bff17f5c04b289b72877d5e6ece532a17f136d84c8",
        "883d8a89834074fffa2555fafa712b50b292baafc16a7d46b3b8464b1715eee7"
            + " f17030152ef88813542c3d92679ca29ba537853864bd31d97b9421a71e1fcc8b"
            + "c51ecfbfa9b80739819ab751871a2f84740552fde35dabab6dd87dc61b276c4f",
        "bda83d8832393b7654da39ed4a0f4075b4e3874efafd90e971278a1b6f5d3145"
            + " 9f97be3ccd20e7b98b783cbaf7f7b55b54004ceee2bbed76754f008da3d7ec1d"
            + "5c1472ab9fa8b0b3e917e4a5a42406f4a15bd3b32df1b5bd4295febb7a343710",
    ]
}
