"""The server's side of Oracle Net (TNS and TTC), as far as a client needs it that reads."""
