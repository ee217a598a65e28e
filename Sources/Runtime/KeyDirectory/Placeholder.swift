enum PlaceholderKeyDirectory {}
