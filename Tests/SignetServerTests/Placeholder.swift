import Testing

@Test func placeholderSignetServerTests() {}
