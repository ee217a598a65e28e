import Testing

@Test func placeholderSignetClientTests() {}
