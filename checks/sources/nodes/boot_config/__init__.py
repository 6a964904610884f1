"""Parse the boot configuration of a node: the MTU of its interfaces at the next boot, one module a network service.

Text in, facts out. No text raises an exception: text that cannot be parsed is left out, or Unknown.
"""
