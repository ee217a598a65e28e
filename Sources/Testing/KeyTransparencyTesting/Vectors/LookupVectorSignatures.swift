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
        "bcb9a5a3db061d2cde5a5a22abdc394cb1ef2005f801548f6f39b94de5381cfc"
            + " 66c81020e0118a06f9bb0841a13babe679eb0f05af2c1e846952d7b829a1115a"
            + "0a28a6924929c2a930e2be6c2db9cbbdb4c9217d3734defaa5e5a4050b6cdf5b",
        "5e3800e05a1dff58c939250c661776949680f0be48031096de04e712d4122ffb"
            + " db760a197bf9f8a22d047c9abc319af61a4fcaf6a52f62def41b2bfded8e7be7"
            + "5b7a33f7e861bc7c1768c315aae8ba9d503c93f23359a4fcbe1facfc8f3d272e",
        "49d02c3694496a05999c3a6c66541cdd5f3fd223ba8b54ff54b1c6cb7d2afc60"
            + " 14cb49955ff568e0b37e3155f2156f9c6bffb8c9c4ecd798dd8bca4a3d7de737"
            + "3a48273a27fee3e416c1ba1e4c53be65ebaf6cdca2977dd6bd186b2ac846adb6",
        "edeae343a0864499ff6b4404e79f0a089b73abdec9e664d83933a592b0c67f2f"
            + " f3e60f29ef3d24c26fa4152dc9db5279590d15575c04afe86b0de9b639a5327e"
            + "a5e54d86dcd96100bc89c3c81161c6cbf8e71523c7c2033083464536dc47fec8",
        "2350e0ba51951c0730708ceaf614f6315236746cc2f4d8ce1829f19f7d19ffd7"
            + " 5ec4a0b7bd74d26a0a6ae86e1e6a526dd15aeb45ab1a25f50d6f5ecdebf1911a"
            + "b1f5da6496418300cb1cefc0f672159d7a6a75572937d58b3c0278c24a719d02",
        "a33cae8599bd36694bf7d7f0340a9b7b5aa892476e3ab61c4a67853e9f1dadfa"
            + " 9e91d59470f4e6ccd584ced38d242b37defbb3b5f553d50a2c672dc1c75dcbd6"
            + "d0b98156f1404f70c19a515c636282cf5f5ea905c1b92c009c054b409facfcec",
        "78e1ddee3fd8a427f0e882a96414ac91bf821843fa5cb908b721030d04094ad2"
            + " 7f442c956fa603e9b6de6ea60f6b35db2ffe50c081e1934aa3d2c8f116eddbc5"
            + "73919d84b759335df498c63c075616548f8ebf63466354d4d07ede33933ec1bf",
        "fe29ac31c7e8be66eb7bb7ef589213abeeff3469dc3714dbd5b16d9c502605dc"
            + " e4674a9b9dbc318947f822fe60aa65ada2bb234c98eda7511dcbbc7d8c88db5b"
            + "101b6c8f38f4cf219790e2814361ca1c5156455f5436dcc3083cf88673469421",
        "4b5853f435af319bfc4c0cf3897d85cb65beacb3b84cc97367b37f281f8c70c4"
            + " d7f91fdfce4423703dbb5108d0f4d3c79274f239ebeea2ce8291b0c60b86ad71"
            + "e1a3a9df2f082cfc884a87eb2b53e9fed442fec70ad3d4903a52e614b2645f3d",
        "07f546c023ab8a2947a04386bfa3e618c6a290cf5789fba2cf589e4718c6386e"
            + " c672ece6ff0cf5b6ec2f443bbb713dc543d0af1b6d03b755a5fdd2cbf9fa5f7e"
            + "2ce374ba17001eb09fb4b241eda9ddec5b60395860384a4e21b01a059076d27c",
        "949d1b1d49bb9d97050af431cedec5bce056b3ccb07b1af9235e794fac75bc10"
            + " 0f292770d3624137ac19333efeb099f677b9f8024280dfbf7a38a57c54c80af0"
            + "c5f9ce3aa433b1c3e3914a66d4b98de350bbef39ad16be8983bbc7e1c95376eb",
        "b28ef612927b1f5d14203b1e17d7a319ba025249e932cb3ff27d326e40186ff7"
            + " c00bc32240e160f414b520ccbc298065a755ae2ccc070aacd9871bdb0d81ec4e"
            + "3bba654aaf8daa42df7217a329ec71175cd51d6278ee0d7e01efd24fb86c7c6d",
        "943d52af785f3f3d6419dd5baf05cb1e98103eece5b719383d63f7435c54a2d4"
            + " db1e9a4dba369cbb3c17b0d77b65044696fab550f7b447157612a660376c6fae"
            + "716f4f61da8ce43f2574d2f31593883a49785824f84f1c08c94868d3b4ee3af3",
        "568d347818891c41fc044a41ee56447d1835286d7fc3576bf491331e71cb3265"
            + " bef3d4dbb902ae8f1d61dc8c2afa1e80af247b56be24c9505d13a12bdccecaaf"
            + "1d4eedb91ad0c184c86b3fbd6f7953d893d449cf29ab36f6084dd6f89c54be1c",
        "c2b12e621bbcb612470d5a2a690ce3c6968182a12bf65bdf0a3b28c2f781afd8"
            + " 3ee19356f69116d4a45777a44a3372e94d1127f0bf8819665aff54b84a41a027"
            + "e12ce9218708741ee0c5c85f799f9525c7e0cf2cbbf6526e9735ed47989a7050",
    ]
}

extension [[UInt8]: [UInt8]] {
    /// The signature that was made earlier of these bytes, or else a new one.
    func signature(of message: [UInt8], by key: P256.Signing.PrivateKey) throws -> [UInt8] {
        try self[Array(SHA256.hash(data: message))] ?? Array(key.signature(for: message).rawRepresentation)
    }
}
