"""What a node's files say of the MTU of its interfaces at the next boot: one module for each network service.

Text in, facts out. Nothing here is raised on any text: what is not understood is left out, or Unknown.
"""
