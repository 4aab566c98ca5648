# Empty compiler generated dependencies file for start.
# This may be replaced when dependencies are built.
