"""What functions and procedures have in common: signatures, handler languages, bodies, and what SHOW and DESCRIBE say.

objects/function.py and objects/procedure.py declare the types.
"""
