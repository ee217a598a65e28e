import CanonicalCoding
import Crypto

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
        "2040567c090cee4dec05fb44e1ae3f85b5a201df2c4c2d1f28d215cc72ca401a"
            + " fc13da9d9d4a7d4afbebd3ed0f70ea8223ce33184cc2c17bfb13b08323a0cc1a"
            + "5e2101c3800dbff3a009a0aa6f22771ce1a2300e500c6c39ebd5e0164851c9ab",
        "2350e0ba51951c0730708ceaf614f6315236746cc2f4d8ce1829f19f7d19ffd7"
            + " 5ec4a0b7bd74d26a0a6ae86e1e6a526dd15aeb45ab1a25f50d6f5ecdebf1911a"
            + "b1f5da6496418300cb1cefc0f672159d7a6a75572937d58b3c0278c24a719d02",
        "32ffe868d8358a757dd8131c820ccc0e31acfc7a39e12beadefda4083d585cf3"
            + " 5407bd894b80d641778f99c3a69ee00e7f101aff5e910db2da3bdc746779fb33"
            + "537099ce0403b781dc3742f51b069a1510c787f726052825f87c6e41b3ff98a9",
        "49d02c3694496a05999c3a6c66541cdd5f3fd223ba8b54ff54b1c6cb7d2afc60"
            + " 14cb49955ff568e0b37e3155f2156f9c6bffb8c9c4ecd798dd8bca4a3d7de737"
            + "3a48273a27fee3e416c1ba1e4c53be65ebaf6cdca2977dd6bd186b2ac846adb6",
        "4f8faa25514952783f0362d58f072a1424266061f94d3fcb12290b2906955656"
            + " 168f1b319e99529d02e5f19a5c23ffca81dbce11df05e195d899ab46c9eda89d"
            + "60d4558180751fed977ae9f1a3cbc017e7d696deb348013095de194a077deed5",
        "5e3800e05a1dff58c939250c661776949680f0be48031096de04e712d4122ffb"
            + " db760a197bf9f8a22d047c9abc319af61a4fcaf6a52f62def41b2bfded8e7be7"
            + "5b7a33f7e861bc7c1768c315aae8ba9d503c93f23359a4fcbe1facfc8f3d272e",
        "78e1ddee3fd8a427f0e882a96414ac91bf821843fa5cb908b721030d04094ad2"
            + " 7f442c956fa603e9b6de6ea60f6b35db2ffe50c081e1934aa3d2c8f116eddbc5"
            + "73919d84b759335df498c63c075616548f8ebf63466354d4d07ede33933ec1bf",
        "883d8a89834074fffa2555fafa712b50b292baafc16a7d46b3b8464b1715eee7"
            + " f17030152ef88813542c3d92679ca29ba537853864bd31d97b9421a71e1fcc8b"
            + "c51ecfbfa9b80739819ab751871a2f84740552fde35dabab6dd87dc61b276c4f",
        "8e60f86b66763e7624061c4fa318fcd605e6801db8e0f7b57fc94eb8f94fa640"
            + " 123284712c631bf109885e2e7dd4066b2586a96ea66564a20411665419e79f58"
            + "c5d00e5f9f62067c355639848f8a856ba9c3538525de5d91bdfe946294ff5716",
        "90111c5bc5f41820a6563bcc70500d6119cf88ad1e31ecfc2d71eeacdf581b8d"
            + " d32956e628e7fb6143df5b2865458a355582a5ee769caaf112c93ca605737396"
            + "a9e2e8bf9dcf3499db6bdbb3c29147784ba71a9ba0a10d61e5913a6519b07888",
        "a33cae8599bd36694bf7d7f0340a9b7b5aa892476e3ab61c4a67853e9f1dadfa"
            + " 9e91d59470f4e6ccd584ced38d242b37defbb3b5f553d50a2c672dc1c75dcbd6"
            + "d0b98156f1404f70c19a515c636282cf5f5ea905c1b92c009c054b409facfcec",
        "a401518044284100b836c794357888ba89dc340eab3734dc402bbfbc1b6bc980"
            + " 1856767c2e4fb439e86775e3252ac30f62febd52153c18a4328298019961ff6c"
            + "f3cec6947dc70f3fe5ed8947b37e45592e66de02074e660186498eb3b6528e0b",
        "bcb9a5a3db061d2cde5a5a22abdc394cb1ef2005f801548f6f39b94de5381cfc"
            + " 66c81020e0118a06f9bb0841a13babe679eb0f05af2c1e846952d7b829a1115a"
            + "0a28a6924929c2a930e2be6c2db9cbbdb4c9217d3734defaa5e5a4050b6cdf5b",
        "bda83d8832393b7654da39ed4a0f4075b4e3874efafd90e971278a1b6f5d3145"
            + " 9f97be3ccd20e7b98b783cbaf7f7b55b54004ceee2bbed76754f008da3d7ec1d"
            + "5c1472ab9fa8b0b3e917e4a5a42406f4a15bd3b32df1b5bd4295febb7a343710",
        "c47473a2d9fcf3a0d2feeba970bee1d2e926a005285c0e00c76f65858dfb906e"
            + " da2fb91710a5a42f20cf190283ab60741ada5efdc14f41a81640326cccc7ba09"
            + "712abdec17479fc84cb778bff17f5c04b289b72877d5e6ece532a17f136d84c8",
        "cef6ec2b9e14216a5bbf7a56f8b8cbc4c4172e0333c0a3ebbb33601811229cb6"
            + " 7b29239db20b2a3237feefe672d2479f6da65300600843e4bb7c503c2a08e45a"
            + "70a6dbd2f12dcfd4a3b689e73edf3c62810c237fe99bc827b1f83c72ddb5cac3",
        "dc13e0142a53a5183dfd4a214d5a8cf36668a649917a39d375704b3e52909d5b"
            + " 7ccacfadcbc6963ddaa6458be903303e2651347916fd7d02ba43d12bed09a979"
            + "f509541cd8cd13d807eb57b973cb67826748491514e3f13e93a70db6a8bb40e6",
        "e03e103ca91140b1e449d003f00947db20960a338c58bab51d4ce8273df5e5e7"
            + " 0f18ed3d5948d6f671200cccf9f9b8cc027065cbda31a3a3a790afa744dcc16b"
            + "3cb94eac35993447971cf51d05837634d271f9e7dccaf7ae32055054838fd768",
        "edeae343a0864499ff6b4404e79f0a089b73abdec9e664d83933a592b0c67f2f"
            + " f3e60f29ef3d24c26fa4152dc9db5279590d15575c04afe86b0de9b639a5327e"
            + "a5e54d86dcd96100bc89c3c81161c6cbf8e71523c7c2033083464536dc47fec8",
        "f45db6db2aa9c41c293588840cf0b4fbf965db7ba2935d648fc1c5e0ebc0b4b3"
            + " b4defa1fe858684b6962b650d287425a3fbfc152f51e1c4abc3440de76483d49"
            + "568a09c62f81c02d209c6845abae5cb0c639e44931cc13f5808377987ca97b05",
        "f4fce160e8529b03e86c306deea734a927fe4dc882252005800f238080e60f5a"
            + " a81f5fe35aa47b24084ac0cc34ff59e2579b935d793a7fe9d520f367556865cc"
            + "a17d353e2bc73ddec7fb18b347c4dc30942b45e6eef3e4c5995fa49f75d841f1",
        "f85d2f373fedd761b057d1c4d8da81d48d616a1e2fc6be734226004367432169"
            + " acc21e02201ee861643a09b2f2e18b4a58be9e8fa19b4b4eda78ed2d7165d3aa"
            + "905a1fcc3b96c5ae17d79949ad9790d6caec3bb1113dbe258525fe192ce97e4d",
        "feadd0f9bead5b8563ce3fb35c654ff307e347507f1f9fdb1a5e710905fab41b"
            + " e1377184d30dbfc16de4691d1e8b5098ef9fc684af8c904f3c98e95ea5796f71"
            + "8601ea78fc7d3d8a7c7a46728c259a4dfa4685e54f00f0bb8bb50f8db3c1cab8",
    ]
}

extension [[UInt8]: [UInt8]] {
    /// The signature that was made earlier of these bytes, or else a new one.
    func signature(of message: [UInt8], by key: P256.Signing.PrivateKey) throws -> [UInt8] {
        try self[Array(SHA256.hash(data: message))] ?? Array(key.signature(for: message).rawRepresentation)
    }
}
