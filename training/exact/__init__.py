"""Exact play of small games for two: the public tree of a round, walks over it, solving, and judging agents in it.

Files read in this order: ``subsets`` (hands as numbers), ``tree_records``, ``tree_growth``, ``public_tree`` (the tree,
from the engine), ``payoffs``, ``tree_ends``, ``tree_shares``, ``tree_walk``, ``tree_counts`` (walks over it),
``exact_game`` (values and best responses), ``cfr``, ``solution``, ``solve`` (perfect play), ``exploit`` (an agent's).
"""
