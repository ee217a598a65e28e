enum PlaceholderSignetClient {}
