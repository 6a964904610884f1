"""What is sent over the private networks, only when asked, and never over a public one."""
