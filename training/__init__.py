"""Training and evaluation of dominoes players, and the command line ``dominoes``. torch is imported where it trains."""
