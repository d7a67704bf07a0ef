"""The search of a help desk: which of the known questions is a new one like?"""
