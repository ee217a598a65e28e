import Testing

@Test func placeholderKeyDirectoryTests() {}
