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
        "f2d9f7d677cd2a24096552d6298d63090a0994976f290160c1e695f24c0078c2"
            + " 16b79066ed038fc8e80e24655fc6e47e1fd8208ce0d0842413eb3a5a04bfed3c"
            + "483a7985c2558d61b98cf3bc87121fc3e794ed2094128335e633565961d94245",
        "f9b4dfdb9aeeebc766333fa3fa2616b328f8ac6beb9449a181f64e9f30a9790b"
            + " 026a3d3432899de5ac8689821c877fd190df28432541705765f5641c05637a61"
            + "354654d2c4d8f08879ba3f2d3be2d8a74882994a11ada690b7aef082ed174817",
        "fd1758af025916c0adb83f76a9292eedea00c0f2f9482eea2e649b8e18a405bf"
            + " 12b47d7020165fc52dc730ae7aa5a5e009cfd22be037a35dfcc8560271bc9529"
            + "811ae2b55a52008484a7f9f3b7e7403b1e68580295a18f04a82ac3523e2e6577",
        "140092de3e522bc3303c0e9f88ddbbc32771bf9ecf40c788e51a26bdcd37ed47"
            + " f427eac106b5c8007ad4dae480fc297c67c9a9b1f93e070401ef22f81dfcba08"
            + "e986065d722e4e98efaf63957288863ace1ad533ac34e69b227baa9eadb720bf",
        "ea4e934d9e22ce432e84d2a312bc2c21d673a45238b6232bb04f898d77db9c95"
            + " 88ac7e57c65b20bf0ede56532261b45c66728280dd2f83f2317dd0be3a0b7586"
            + "117aff2e5a350fd3646b85526134180c7beb44b28a440904cc16d53bb4631a3f",
        "d9d15307c6df3c1da73d3e72e2dc5511d5354472b4a6c138c4ff26657c1aa422"
            + " e374cb7226b00cf28421b3e23a9c1c344c2fa9966e4f609c01b782ddaff8d25d"
            + "3810ae3ab695fcb026f1528858c14bdf22825755d42550f46dc7e2a8509a45a1",
        "87183f62dff6a1d27151d9f7af70b0c95253098f7552cce3bd678056ee6bda7a"
            + " 65385302fcbded7a7854ef4f8bc822af9b79a0137c70339a59f19e8ce55b6064"
            + "b08a10c95468d002d61c0fe0c147afc9379248048faebf3581f1799cd97a80ab",
        "6b61c26b1841ada94aafa230f116a332100064857ce373506a3d22674b3d1de3"
            + " 068ddf8a187cdff16b5b63590c981bc8fb3c2326187799cb76168bb5c8d34ae7"
            + "1b5ee665929b89e8398dcb293813bedf89b7fc380674f79ac0a08f81710cebb0",
        "16ea94ffa41eb09a4a34797f14dd9d9c4ff13d2ebace7dc419d2124730a80758"
            + " 889640e2c45b949521647c513c06f68da73bdddd0d1552eb74aa2a91141a885d"
            + "62cfddf1925fc6d983ffb931e15cf2b7217ae0e3dda6fb89eace37afd2791144",
        "e356fa9492e430f83c63068889cba67a23d79ad1e6a51365e952ffdbe72dce5b"
            + " fa7fe687c278cd6b5e7fc92fc0386a6b61f0fc504648e723e83480dd862e5805"
            + "576e7e823fed8d6be48cdfa7d7eff215c41ff94cdd9649607b6bae13fca84d02",
        "dcd5de514a2c3ff2fad1485727e2f83a97be9a03cc1f9190486e72588f6f80b7"
            + " 299d5dbdf0ab77a178d780a50d2e56bbb66ef087df3a681ebb79313e9f067c3b"
            + "9f470bdd80834f6dc4a653b6b4e522f99fdeea78f917ffa9f7a725b36edd6f1d",
        "4be0d7b97475e12857ca9b100f982a076724f1fc62ac58161eda71434ef889ca"
            + " f7d7007ddf3bc98a87e6ce48d056b1ac62e9e6110387434eaafdef3c0615dbb0"
            + "19d48777b1db6914700e6cd927be4a98cb6b0d3b8e3accab1c8bcf0503cb4a8a",
        "f42080e789d91181501a8084c05dabdda118db8e210a2452dc42a8558a711fae"
            + " a374dfd961215e4770080165a459bbd0a9bece73da708207bca290de5745c97a"
            + "afafc35406cd82e2adf2cdfa180c199d57425b6e349969f637110e3721e6a483",
        "1a58664162eeff96e563eea8f30caabe134648d45cfa5f7457fe202ff7019c09"
            + " 038b0a7df0f4522f3b092a708816ceb4cd7792814806c11290effa50b71bc025"
            + "8615424d6bd77c2f67ae03852cdd915fda45d31310a92a9c70b21cabc71de39a",
        "e57ad9bedee0d6bdc17b880191243720262ff73e88e1b3440676a29a96078303"
            + " 3b789ad6f85e3616d87d444184a992498a84aceae0d745c57273c7d0219fb3ad"
            + "6519b7e4b954365da580168f35e14bdc345bc084a9772c0e4cdf70522f2714fd",
        "598b224e8828248068acbe372bbac8bbe98e74ad2fdfa3d461ed3a0570ff283a"
            + " 0ab0909441e52b0b6ea621f0002b5c51fd3cb2ebfe217db29f33ed77db6d0962"
            + "54dcd4076cb911a07d07f91370fedde78e5798fa483a86425ee72b0c4df9bd48",
        "a79656695cba454dc635f8214584106756163dfeef0637f0b5f266d2a9190495"
            + " c6a5e7dee14a211d62e8a3be3dbe43e5055999ed185d26727c72a4a3adbf9e86"
            + "c92b2e18f5786bc43a66fa27146473973d1962f0e5d5e0f817cb8760b56628fa",
        "c843e7a087e1a188ae94d9c4dc3acaec72315d64a09d3eb86883502c290c62c6"
            + " d51011c1018a8ccdbf787b4326d79343f3ffc42d8dcc8fc77d16dba049d96942"
            + "76c82c4343699117e9f73117694750a14bcfb95860f17d6aa6a816781ab40e0f",
        "adbc467158cc75aa0cbfc1e506dabd3c1d46e17d65c88b1b60abd0a3b75edb28"
            + " 9c8b7f9359a2d38ba5dab22e48132f839512465dbba01ad56814ea0a6c8efc2e"
            + "698e6f5958d5875b224f4d6414ca78adef65cdd2d56c843155761a2a7925422b",
        "be239106151caa2d6743464e5ce223295997d4da5debfcc80ca8e930cb421bfa"
            + " 04e4fc57161ce879a4e3851f3179da2ab928acb0c53fe77cee33166112a6af95"
            + "6bbe2070bcf923fb66db408fabc63334d5dd7cfd914c40754e16bf0a91ae26e5",
        "3830e97c58da629a896b32aabca5262445a67ca923c04ff0cacb85b0bbeb1042"
            + " 51046df811ee06dc1b902ae07f76c6b4fbd500e5cb6eda509eb94ad0739469c9"
            + "4a30e5dbaa4073d566b68c29e39058182b156e8f8e31c2bfc736288ea6cb4a05",
        "5b7804b76628b40d4b26ce8f3cabbd1fe52f2cb84b9046661984ae0f208d4fad"
            + " d90e2daf27947244003d9edc8af13477f0390b7133cd6b5f8a6eaee256241a8c"
            + "3760e5f28b322ea60973286710eb0020b7dc0278eea79519c10c1396a80d9f64",
        "8daedacd16be92a1f5fbf8302622692f709c22477f77b4974bb5a66eda4f7906"
            + " efccf718a4f192130027558ed0b2b2cabcdffaed8fe34c9cf03dc08307eec674"
            + "647a076fc5792c335cbee6146e83049c5c4ebd224101673171fba27ce3bfe85a",
        "9efaa00037653075b5a8381531bb89cac050f420a3414cca33b10e15faf6f473"
            + " 351d35dfa9d9626c255fb9d8caca42c8b8bf8a4a4fb46cefd88ab53a66c10440"
            + "a8843a47ffb0e243f0dd7d589286e9c1b60734c3909c66acf0aa820afeeb32ba",
        "1453eefd1874e9c853477af335cd69282c94f282c776d4ec40834681596b75c7"
            + " 91d788e21c952337e3090afbd529e5e9c23d3783b3169777e586ed5287b85e22"
            + "02fbac9b433abbfce05433fef8db346813b78806a2316b0b24763b7a6a0f0251",
        "c239f2f03b38bca135ef8a65a8dc5141aeb54721f865ea6fbf050a042eadd8f5"
            + " 546367985380ade05798bc549308a2efc3cb8ce82284baacfcac9bd685868ef0"
            + "7b1951e3640123ed3047571f4ceaf5371cb05eb96a79641bf347cea55f0813b4",
        "861583fab89441cdffffcfb254025e54ea41c597d640d7bc36b411e65d676753"
            + " 7eb4318f873f1319337ddb19c69d7f7a28b8d9e94487f05ee7c412032489a1a3"
            + "61da63ad0cf43aaaaadf4c7a5b8999c631cbdbaae5007520c1ed797a932452f4",
    ]
}

extension [[UInt8]: [UInt8]] {
    /// The signature that was made earlier of these bytes, or else a new one.
    func signature(of message: [UInt8], by key: P256.Signing.PrivateKey) throws -> [UInt8] {
        try self[Array(SHA256.hash(data: message))] ?? Array(key.signature(for: message).rawRepresentation)
    }
}
