// SPDX-License-Identifier: Apache-2.0

/// The one vector of c2sp.org/vrf-r255, section "Test vector", with its intermediate values, as lower-case hex.
enum SpecificationVector {
    static let secret = "3431c2b03533e280b23232e280b34e2c3132c2b03238e280b23131e280b34500"
    static let publicKey = "54136cd90d99fbd1d4e855d9556efea87ba0337f2a6ce22028d0f5726fcb854e"
    static let alpha = "633273702e6f72672f7672662d72323535"
    static let hashString =
        "3907ed3453d308b0cb4ae071be7e5a80f7db05f11f5569016e3fa3996f730782"
        + "1142133d0124fb3774d55ba6ccd14c11f71bf66038ec80b3f9973a1a6d69f5db"
    static let mapped = "f245308737c2a888ba56448c8cdbce9d063b57b147e063ce36c580194ef31a63"
    static let nonce = "d32fcc5ae91ba05704da9df434f22fd4c2c373fdd8294bbb58bf27292aeec00a"
    static let gamma = "0a97d961262fb549b4175c5117860f42ae44a123f93c476c439eddd1c0cff926"
    static let u = "9a30709d72de12d67f7af1cd8695ff16214d2d4600ae5f478873d2e7ed0ece73"
    static let v = "5e727d972b11f6490b0b1ba8147775bceb1a2cb523b381fa22d5a5c0e97d4744"
    static let challengeString =
        "5c805525233e2284dbed45e593b8eea346184b1548e416a11c85f0091b7dba42"
        + "c92eaea061d0f3378261fc360f5b3cf793020236a9aaec5bbff84c09c91d0555"
    static let response = "1d5ca9734d72bcbba9738d5237f955f3b2422351149d1312503b6441a47c940c"
    static let proof =
        "0a97d961262fb549b4175c5117860f42ae44a123f93c476c439eddd1c0cff926"
        + "5c805525233e2284dbed45e593b8eea31d5ca9734d72bcbba9738d5237f955f3"
        + "b2422351149d1312503b6441a47c940c"
    static let output =
        "dd653f0879b48c3ef69e13551239bec4cbcc1c18fe8894de2e9e1c790e182736"
        + "03bf1c6c25d7a797aeff3c43fd32b974d3fcbd4bcce916007097922a3ea3a794"
}
