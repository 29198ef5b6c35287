"""Gemini, which is asked over two APIs that share keys, models and grounding but neither bodies nor errors."""
