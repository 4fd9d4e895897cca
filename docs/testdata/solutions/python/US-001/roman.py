"""Roman numerals."""

LETTERS = [(1000, "M"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (5, "V"), (1, "I")]


def to_roman(n):
    text = ""
    for value, letter in LETTERS:
        text += letter * (n // value)
        n %= value
    return text


def from_roman(text):
    raise NotImplementedError
