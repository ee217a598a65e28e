enum PlaceholderSignetAPI {}
