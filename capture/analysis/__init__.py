"""Reading answers: who is named, who is cited, and the figures from it. Pure: knows no Django and no database."""
