// SPDX-License-Identifier: Apache-2.0

import S3Requests
import SeededRandomness
import Testing

/// The documents that stores answer. The two good ones are the examples of the Amazon S3 API Reference ("Error responses",
/// `ListObjectsV2`), shortened.
enum Sample {
    static let error = """
        <?xml version="1.0" encoding="UTF-8"?>
        <Error>
          <Code>NoSuchKey</Code>
          <Message>The resource you requested does not exist</Message>
          <Resource>/mybucket/myfoto.jpg</Resource>
          <RequestId>4442587FB7D0A2F9</RequestId>
        </Error>
        """
    static let listing = """
        <?xml version="1.0" encoding="UTF-8"?>
        <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
          <Name>bucket</Name>
          <Prefix/>
          <NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
          <KeyCount>2</KeyCount>
          <MaxKeys>2</MaxKeys>
          <IsTruncated>true</IsTruncated>
          <Contents>
            <Key>happyface.jpg</Key>
            <LastModified>2014-11-21T19:40:05.000Z</LastModified>
            <ETag>&quot;70ee1738b6b21e2c8a43f3a5ab0eee71&quot;</ETag>
            <Size>11</Size>
            <StorageClass>STANDARD</StorageClass>
          </Contents>
          <Contents>
            <Key>a &amp; b &#x3c;&#62; c</Key>
          </Contents>
        </ListBucketResult>
        """

    static func listing(_ inside: String) -> [UInt8] { Array("<ListBucketResult>\(inside)</ListBucketResult>".utf8) }
}

struct AnswerTests {
    @Test func aCodeIsRead() throws {
        #expect(try S3ErrorAnswer(Array(Sample.error.utf8)).code == "NoSuchKey")
    }

    @Test func aPageOfNamesIsRead() throws {
        let page = try S3Listing(Array(Sample.listing.utf8))
        #expect(page.keys == ["happyface.jpg", "a & b <> c"])
        #expect(page.continuationToken == "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=")
    }

    @Test func spacesOfANameStay() throws {
        let page = try S3Listing(Sample.listing("<IsTruncated>false</IsTruncated><Contents><Key> a  </Key></Contents>"))
        #expect(page.keys == [" a  "])
    }

    /// A token of a last page would ask for pages without end.
    @Test func theLastPageHasNoToken() throws {
        let inside = "<IsTruncated>false</IsTruncated><NextContinuationToken>x</NextContinuationToken>"
        #expect(try S3Listing(Sample.listing(inside)).continuationToken == nil)
    }

    @Test(arguments: [
        "", "<IsTruncated>yes</IsTruncated>", "<IsTruncated>true</IsTruncated>",
        "<IsTruncated>true</IsTruncated><NextContinuationToken/>",
        "<IsTruncated>false</IsTruncated><IsTruncated>false</IsTruncated>",
        "<IsTruncated>false</IsTruncated><Contents/>", "<IsTruncated>false</IsTruncated><Contents><Key/></Contents>",
        "<IsTruncated>false</IsTruncated><Contents><Key>a</Key><Key>b</Key></Contents>",
        "<IsTruncated>false</IsTruncated><Contents><Key><b/></Key></Contents>",
    ])
    func aPageThatDoesNotSayEverythingIsRefused(inside: String) {
        #expect(throws: S3AnswerError.unexpected) { try S3Listing(Sample.listing(inside)) }
    }

    @Test(arguments: [
        "<Error/>", "<Error><Code/></Error>", "<Error><Code>a b</Code></Error>", "<Other><Code>a</Code></Other>",
    ])
    func anErrorWithoutACodeIsRefused(text: String) {
        #expect(throws: S3AnswerError.unexpected) { try S3ErrorAnswer(Array(text.utf8)) }
    }
}

struct AnswerReaderTests {
    private func read(_ text: String) throws(S3AnswerError) -> AnswerElement { try AnswerReader.read(Array(text.utf8)) }

    @Test func elementsTextAndReferencesAreRead() throws {
        let root = try read("<?xml version='1.0'?>\n<a b=\"c\" d='e' >\n <f>g&amp;&#65;&#x42;&apos;</f><h/> </a >\n")
        let children = [
            AnswerElement(name: "f", text: "g&AB'", children: []), AnswerElement(name: "h", text: "", children: []),
        ]
        #expect(root == AnswerElement(name: "a", text: "", children: children))
    }

    /// What makes other readers fetch files, or use memory without end.
    @Test(arguments: [
        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>",
        "<!DOCTYPE a><a/>", "<a>&x;</a>", "<a>&nbsp;</a>", "<a><!-- b --></a>", "<a><![CDATA[b]]></a>",
        "<a><?b c?></a>",
        "<?b c?><a/>", "<a b=\"&amp;\"/>",
    ])
    func nothingElseOfXMLIsKnown(text: String) {
        #expect(throws: S3AnswerError.self) { try read(text) }
    }

    @Test(arguments: [
        "", " ", "a", "<", "<a", "<a>", "<a></b>", "<a/><b/>", "<a/>b", "b<a/>", "<a>b<c/></a>", "<a><b></a></b>",
        "<a b/>",
        "<a b=c/>", "<a b=\"c/>", "<a b=\"<\"/>", "<a b=\"c\" b=\"d\"/>", "<1a/>", "< a/>", "<a></ a>", "<a>&#0;</a>",
        "<a>&#xD800;</a>", "<a>&#x110000;</a>", "<a>&#;</a>", "<a>&#x;</a>", "<a>&#+65;</a>", "<a>&#65</a>",
        "<a>&amp</a>",
        "<?xml?><a/>", "<?xml encoding=\"UTF-8\"?><a/>", "<a/ >", "<a>&</a>",
    ])
    func whatIsNotWellFormedIsRefused(text: String) {
        #expect(throws: S3AnswerError.self) { try read(text) }
    }

    @Test(arguments: [
        [0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e], Array("<a>\u{0}</a>".utf8), Array("<a>\u{fffe}</a>".utf8),
    ])
    func whatIsNotTextIsRefused(bytes: [UInt8]) {
        #expect(throws: S3AnswerError.notText) { try AnswerReader.read(bytes) }
    }

    @Test func elementsAreAtMostEightDeep() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        _ = try read(nested(8))
        #expect(throws: S3AnswerError.tooManyElements) { try read(nested(9)) }
        #expect(throws: S3AnswerError.tooManyElements) { try read(nested(100_000)) }
    }

    @Test func thereAreAtMostSoManyElements() throws {
        func wide(_ count: Int) -> String { "<a>" + String(repeating: "<b/>", count: count) + "</a>" }
        _ = try read(wide(AnswerReader.maximumElementCount - 1))
        #expect(throws: S3AnswerError.tooManyElements) { try read(wide(AnswerReader.maximumElementCount)) }
    }

    @Test func aDocumentIsAtMostSoLong() throws {
        let long = [UInt8](repeating: 0x20, count: AnswerReader.maximumByteCount - 4) + Array("<a/>".utf8)
        _ = try AnswerReader.read(long)
        #expect(throws: S3AnswerError.tooLong) { try AnswerReader.read([0x20] + long) }
    }

    /// Mutated answers end in a document or a refusal, and what is read of a listing always has names.
    @Test func mutatedAnswersAreReadOrRefused() {
        var chance = SeededGenerator(seed: 19)
        for _ in 0..<20_000 {
            let sample = Bool.random(using: &chance) ? Sample.error : Sample.listing
            let bytes = chance.mutant(of: Array(sample.utf8))
            if let code = try? S3ErrorAnswer(bytes).code { #expect(!code.isEmpty && code.utf8.count <= 64) }
            if let page = try? S3Listing(bytes) { #expect(!page.keys.contains("") && page.continuationToken != "") }
        }
    }
}
