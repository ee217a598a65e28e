import Testing

@Test func placeholderCommandLineTests() {}
