"""What is told to the user of the add-on."""


class AddonError(Exception):
    """Bad input, or an engine that refused it: what was found, what was expected, and what to do."""
