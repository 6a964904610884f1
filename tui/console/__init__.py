"""The full-screen console: app, state, workers, messages, actions."""
