"""Suite to plan to session: what runs, in which order, and what is recorded.

What belongs here: reading suite files, planning cases, running them over the lower
layers, deciding about regeneration. What does not: pytest and argv (``plugin``,
``cli``) and rendering (``report``).
"""
