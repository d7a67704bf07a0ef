"""The readers of facts, one module a subject.

A reader's docstring says where the fact comes from, with an example. What is not a
stable property of the environment has no place here (clock rates, free memory, load:
two runs on one machine would differ), and neither has what names a person or a machine
(host name, user, paths, environment variables other than those of ``variables``).
"""
