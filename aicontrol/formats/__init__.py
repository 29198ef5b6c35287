"""How Django writes dates where no page says it itself, as in the admin: a package for each language."""
