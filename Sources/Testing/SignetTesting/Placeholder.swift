enum PlaceholderSignetTesting {}
